import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, request } from "undici";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const READY_MS_MAX = 180_000;

/** An answer of the API, parsed. */
export type Answer = { readonly status: number; readonly body: Record<string, unknown> };

/**
 * A real kube-apiserver on a real etcd, both on this machine only. There is no controller and no node: objects are checked,
 * admitted and stored, and nothing runs.
 */
export class Cluster {
  readonly kubeconfig: string;
  readonly #url: string;
  readonly #token: string;
  readonly #agent: Agent;
  readonly #children: readonly ChildProcess[];

  private constructor(parts: {
    folder: string;
    url: string;
    token: string;
    children: readonly ChildProcess[];
  }) {
    const ca = readFileSync(join(parts.folder, "certs", "apiserver.crt"));
    this.#url = parts.url;
    this.#token = parts.token;
    this.#children = parts.children;
    this.#agent = new Agent({ connect: { ca } });
    this.kubeconfig = join(parts.folder, "kubeconfig");
    writeFileSync(this.kubeconfig, kubeconfigOf(parts.url, ca, parts.token), { mode: 0o600 });
  }

  /** @param programs the folder with `kube-apiserver`; `etcd` is on the PATH. */
  static async start(programs: string, folder: string): Promise<Cluster> {
    mkdirSync(join(folder, "certs"), { recursive: true });
    const [client, peer, secure] = [await freePort(), await freePort(), await freePort()];
    const token = randomBytes(24).toString("hex");
    const etcd = run("etcd", etcdArguments(folder, client, peer), folder);
    const server = run(
      join(programs, "kube-apiserver"),
      serverArguments({ folder, token, etcdPort: client, port: secure }),
      folder,
    );
    const children = [server, etcd];
    try {
      const certificate = join(folder, "certs", "apiserver.crt");
      await until("kube-apiserver has a certificate", () => existsSync(certificate), {
        timeoutMs: READY_MS_MAX,
      });
      const cluster = new Cluster({
        folder,
        url: `https://127.0.0.1:${secure}`,
        token,
        children,
      });
      await until(
        "kube-apiserver is ready",
        async () => {
          if (server.exitCode !== null) throw new Error("kube-apiserver ended");
          return (await cluster.#send("GET", "/readyz")).statusCode === 200;
        },
        { timeoutMs: READY_MS_MAX },
      );
      return cluster;
    } catch (error) {
      for (const child of children) child.kill("SIGKILL");
      throw error;
    }
  }

  /** One request of the API with the rights of an administrator. */
  async call(method: "GET" | "POST" | "PATCH", path: string, body?: object): Promise<Answer> {
    const answer = await this.#send(method, path, body);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every answer of the API is an object
    return { status: answer.statusCode, body: (await answer.body.json()) as Answer["body"] };
  }

  async #send(
    method: "GET" | "POST" | "PATCH",
    path: string,
    body?: object,
  ): ReturnType<typeof request> {
    return await request(`${this.#url}${path}`, {
      dispatcher: this.#agent,
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async stop(): Promise<void> {
    await this.#agent.destroy();
    for (const child of this.#children) {
      if (child.exitCode !== null) continue;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
      await ended;
      clearTimeout(timer);
    }
  }
}

function run(command: string, args: readonly string[], folder: string): ChildProcess {
  const name = command.split("/").at(-1) ?? command;
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  const log = createWriteStream(join(folder, `${name}.log`));
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  return child;
}

function etcdArguments(folder: string, client: number, peer: number): string[] {
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  return [
    ...["--name", "check", "--data-dir", join(folder, "etcd")],
    ...["--listen-client-urls", clientUrl, "--advertise-client-urls", clientUrl],
    ...["--listen-peer-urls", peerUrl, "--initial-advertise-peer-urls", peerUrl],
    ...["--initial-cluster", `check=${peerUrl}`],
  ];
}

function serverArguments(options: {
  readonly folder: string;
  readonly token: string;
  readonly etcdPort: number;
  readonly port: number;
}): string[] {
  const { folder, token, etcdPort, port } = options;
  const key = join(folder, "accounts.pem");
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  writeFileSync(key, privateKey, { mode: 0o600 });
  const tokens = join(folder, "tokens.csv");
  writeFileSync(tokens, `${token},check,1,"system:masters"\n`, { mode: 0o600 });
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, "certs")}`,
    `--token-auth-file=${tokens}`,
    "--authorization-mode=RBAC",
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    "--service-account-issuer=https://check.invalid",
    "--service-cluster-ip-range=10.96.0.0/16",
    "--endpoint-reconciler-type=none",
  ];
}

function kubeconfigOf(server: string, ca: Buffer, token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "check",
        cluster: { server, "certificate-authority-data": ca.toString("base64") },
      },
    ],
    users: [{ name: "check", user: { token } }],
    contexts: [{ name: "check", context: { cluster: "check", user: "check" } }],
    "current-context": "check",
  });
}
