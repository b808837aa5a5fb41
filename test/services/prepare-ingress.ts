import { ingressNodeCommand } from "../../deploy/local/private-glibc.ts";
import { runtimeDir, testReport } from "./servers.ts";

/** `tracker ingress` downloads nothing at its start, so a machine with an old C library is prepared before tests run it. */
export async function setup(): Promise<void> {
  await ingressNodeCommand({
    runtimeDir: runtimeDir(),
    report: testReport(),
    ifMissing: "download",
  });
}
