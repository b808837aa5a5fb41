import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const BLOCK_TIMEOUT_MS = 60_000;

/** A terminal that a reader types the commands of one page into: variables stay from block to block. */
export class GuideShell {
  readonly #folder: string;
  #variables: Readonly<Record<string, string>>;

  private constructor(folder: string, variables: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#variables = variables;
  }

  /** Opens it in a folder whose `.data` is the DATA_DIR of the service. */
  static async open(
    dataDir: string,
    variables: Readonly<Record<string, string>>,
  ): Promise<GuideShell> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-guide-"));
    await symlink(dataDir, join(folder, ".data"));
    return new GuideShell(folder, variables);
  }

  /** Runs one block. @returns what it prints. @throws if its last command fails */
  async run(block: string): Promise<string> {
    const kept = join(this.#folder, "variables");
    // Every variable that the block sets is exported, and so printed by `env`.
    const script = `set -a\n${block}\n{ code=$?; env -0 > "$KEPT"; exit $code; }`;
    const env = { PATH: process.env["PATH"], ...this.#variables, KEPT: kept };
    const options = { cwd: this.#folder, env, timeout: BLOCK_TIMEOUT_MS };
    const { stdout } = await promisify(execFile)("sh", ["-c", script], options);
    const pairs = (await readFile(kept, "utf8")).split("\0").filter(Boolean);
    this.#variables = Object.fromEntries(
      pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
    );
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}
