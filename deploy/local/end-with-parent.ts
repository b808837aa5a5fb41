/**
 * Preloaded into every product process that the launcher starts (`node --import`): ends the process when its standard
 * input closes, which is how it learns that the launcher was killed. It asks as a person would, with SIGTERM, so the
 * process runs its own orderly end; if that hangs, SIGKILL follows.
 */
const ORDERLY_END_MS = 20_000;

process.stdin.on("end", endThisProcess);
process.stdin.on("error", endThisProcess);
process.stdin.resume();
// The pipe alone must not keep a process alive that has finished its work.
if ("unref" in process.stdin && typeof process.stdin.unref === "function") process.stdin.unref();

function endThisProcess(): void {
  setTimeout(() => process.kill(process.pid, "SIGKILL"), ORDERLY_END_MS).unref();
  process.kill(process.pid, "SIGTERM");
}
