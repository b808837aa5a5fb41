import { ingressNodeCommand } from "../../deploy/local/private-glibc.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { runtimeDir, testReport } from "../services/servers.ts";

/** The command that runs the compiled processors or api (`npm run build` first). */
export function nodeProgram(name: "processors" | "api"): string[] {
  return [process.execPath, projectFile(".build", name, "main.js")];
}

/** Cached, because determining the command takes two starts of Node. */
let found: Promise<string[]> | undefined;

/** The command that runs the compiled ingress, with the C library that it needs. */
export function ingressProgram(): Promise<string[]> {
  found ??= ingressNodeCommand({
    runtimeDir: runtimeDir(),
    report: testReport(),
    ifMissing: "download",
  }).then(({ command, args }) => [command, ...args, projectFile(".build", "ingress", "main.js")]);
  return found;
}
