import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import ts from "typescript";
import { projectFile } from "../../schemas/host/project-root.ts";
import { showOnFailure } from "../system/printing-programs.ts";
import { until } from "../system/until.ts";

/** Go compiles its standard library at the first run on a machine: 20 s of a free core. */
export const RECEIVER_START_MS = 300_000;

export type ReceiverLanguage = "ts" | "python" | "php" | "go";

type Program = {
  readonly name: string;
  readonly file: string;
  /** The content of the file, from what the guide shows. */
  readonly write: (source: string) => string;
  readonly run: (file: string, port: number) => readonly string[];
};

const unchanged = (source: string): string => source;

/** How a reader runs each of the guide's receivers. */
export const RECEIVERS: Readonly<Record<ReceiverLanguage, Program>> = {
  ts: {
    name: "node",
    file: "receiver.mjs",
    write: (source) =>
      ts.transpileModule(source, {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      }).outputText,
    run: (file) => [process.execPath, file],
  },
  python: {
    name: "python3",
    file: "receiver.py",
    write: unchanged,
    run: (file) => ["python3", file],
  },
  php: {
    name: "php",
    file: "hook.php",
    write: unchanged,
    run: (file, port) => ["php", "-S", `127.0.0.1:${port}`, file],
  },
  go: { name: "go", file: "receiver.go", write: unchanged, run: (file) => ["go", "run", file] },
};

/** Whether a program is installed here; says so if it is not. */
export function isInstalled(name: string): boolean {
  const { error } = spawnSync(name, ["--version"]);
  const isMissing = error !== undefined && "code" in error && error.code === "ENOENT";
  if (isMissing) process.stderr.write(`Skipped: ${name} is not installed.\n`);
  return !isMissing;
}

/** Runs the receiver until it is disposed of. Resolves when it accepts connections. */
export async function startGuideReceiver(
  language: ReceiverLanguage,
  source: string,
  options: { readonly folder: string; readonly port: number; readonly secret: string },
): Promise<AsyncDisposable> {
  const { folder, port, secret } = options;
  const { name, file, write, run } = RECEIVERS[language];
  const path = join(folder, file);
  await writeFile(path, write(source));
  const [program = "", ...rest] = run(path, port);
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port), GO111MODULE: "off" };
  // Its own group, because `go run` starts the program as a child.
  const child = spawn(program, rest, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => printed.push(chunk.toString()));
  showOnFailure({ name, output: () => printed.join("") });
  const receiver = { [Symbol.asyncDispose]: async () => await stop(child) };
  try {
    await until(`the ${language} receiver listens`, () => isListening(port), {
      timeoutMs: RECEIVER_START_MS,
    });
    return receiver;
  } catch (error) {
    await receiver[Symbol.asyncDispose]();
    throw error;
  }
}

/** The faults that the compiler finds in the TypeScript example. */
export function typeFaults(source: string): readonly string[] {
  const path = projectFile("test", "e2e", "guide-example.ts");
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ["node"],
  };
  const host = ts.createCompilerHost(options);
  const fileExists = host.fileExists.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  const readFile = host.readFile.bind(host);
  host.fileExists = (name) => name === path || fileExists(name);
  host.readFile = (name) => (name === path ? source : readFile(name));
  host.getSourceFile = (name, ...rest) =>
    name === path
      ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022)
      : getSourceFile(name, ...rest);
  const program = ts.createProgram([path], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

/** The header of a request that is signed at `atMs`. */
export function signatureHeader(secret: string, body: string, atMs: number): string {
  const t = String(Math.floor(atMs / 1_000));
  return `t=${t},v1=${createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")}`;
}

async function isListening(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-child.pid, "SIGKILL");
  await ended;
}
