import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate authority of a test, and certificates that it signs, as PEM files. */
export class Authority {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(): Promise<Authority> {
    const authority = new Authority(await mkdtemp(join(tmpdir(), "tracker-authority-")));
    openssl(
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days"],
      ["2", "-subj", "/CN=test authority", "-keyout", authority.file("ca.key")],
      ["-out", authority.file("ca.pem")],
    );
    return authority;
  }

  get ca(): string {
    return this.file("ca.pem");
  }

  file(name: string): string {
    return join(this.#folder, name);
  }

  /** A certificate for these names, such as `DNS:localhost,IP:127.0.0.1`. */
  async issue(name: string, names: string): Promise<{ cert: string; key: string }> {
    const [cert, key, request] = ["pem", "key", "csr"].map((end) => this.file(`${name}.${end}`));
    if (cert === undefined || key === undefined || request === undefined)
      throw new Error("no files");
    const extensions = this.file(`${name}.ext`);
    await writeFile(extensions, `subjectAltName=${names}\n`);
    openssl(
      ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj"],
      [`/CN=${name}`, "-keyout", key, "-out", request],
    );
    openssl(
      ["x509", "-req", "-in", request, "-CA", this.ca, "-CAkey", this.file("ca.key"), "-days"],
      ["2", "-CAcreateserial", "-extfile", extensions, "-out", cert],
    );
    return { cert, key };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function openssl(...args: readonly string[][]): void {
  const { status, stderr, error } = spawnSync("openssl", args.flat(), { encoding: "utf8" });
  if (status !== 0) throw new Error(`openssl ${args.flat().join(" ")}: ${error ?? stderr}`);
}
