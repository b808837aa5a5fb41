/**
 * A separate process that runs one third-party server, and stops it when its standard input closes: by `stop()` of the launcher, or because
 * the launcher was killed. Run as `node leash.js <JSON of LeashOrder>`.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { type LeashOrder, readLeashOrder } from "./leash-order.ts";
import { removeProcessRecord, writeProcessRecord } from "./process-record.ts";

function main(): void {
  const order = readLeashOrder(process.argv[2] ?? "");
  const server = spawn(order.command, order.args, {
    stdio: ["ignore", "inherit", "inherit"],
    uid: order.account?.uid,
    gid: order.account?.gid,
  });
  server.once("error", (error) => {
    process.stderr.write(`${order.command}: ${error.message}\n`);
    process.exitCode = 127;
    process.stdin.destroy();
  });
  server.once("spawn", () => {
    if (server.pid !== undefined) writeProcessRecord(order.recordFile, server.pid, order.command);
  });
  const end = once(() => endServer(server, order));
  process.stdin.on("end", end);
  process.stdin.on("error", end);
  process.stdin.resume();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, end);
  server.once("exit", (code, signal) => {
    if (server.pid !== undefined) removeProcessRecord(order.recordFile, server.pid);
    // The exit code of a shell: 128 plus the number of the signal.
    process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
  });
}

function endServer(server: ChildProcess, order: LeashOrder): void {
  server.kill(order.stopSignal);
  setTimeout(() => server.kill(order.forceSignal), order.deadlineMs);
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}

main();
