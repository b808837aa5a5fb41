import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setPriority } from "node:os";
import type { SlowReport } from "./slow-report.ts";

/**
 * A program that holds connections open as slowly as it can, and replaces each that the server ends. Once a second it prints a line
 * of JSON: how many are open, how many the server ended, and the greatest age of a connection.
 *
 * node slow-clients.js <port> <connections>
 */
const MODES = ["head", "body", "read"] as const;
type Mode = (typeof MODES)[number];

const REPORT_MS = 1_000;
/** Interval of the trickle on each connection, evenly spread: bursts once a second would be another kind of load. */
const TRICKLE_MS = 4_000;
const TICK_MS = 20;
/** So that this program does not take processor time from the measured server. */
const LOWEST_PRIORITY = 19;
const OPENED_AT_ONCE = 40;
const READ_BYTES = 16;
const PIPELINED = 50;
const HEAD = "GET /r/OFFER1/PARTNR?sub1=slow HTTP/1.1\r\nHost: trk.example\r\n";
const STATE_ESTABLISHED = "01";

type Slow = { readonly mode: Mode; readonly socket: Socket; readonly openedAtMs: number };

const [port, wanted] = process.argv.slice(2).map(Number);
if (port === undefined || wanted === undefined)
  throw new Error("slow-clients <port> <connections>");
const slow = new Set<Slow>();
let opening = 0;
let ended = 0;
let oldestEndedMs = 0;

function open(mode: Mode): void {
  opening += 1;
  const socket = connect({
    port: port ?? 0,
    host: "127.0.0.1",
    // Reads at most this many bytes at a time; the trickle reads the next ones.
    ...(mode === "read"
      ? { onread: { buffer: Buffer.alloc(READ_BYTES), callback: () => false } }
      : {}),
  });
  socket.on("error", () => undefined);
  socket.once("close", () => socket.destroy());
  socket.once("connect", () => {
    opening -= 1;
    slow.add({ mode, socket, openedAtMs: performance.now() });
    if (mode === "head") socket.write(HEAD);
    if (mode === "body")
      socket.write("POST /pb HTTP/1.1\r\nHost: trk.example\r\nContent-Length: 60000\r\n\r\n");
    if (mode === "read") socket.write(`${HEAD}\r\n`.repeat(PIPELINED));
  });
}

function trickle({ mode, socket }: Slow): void {
  if (mode === "head") socket.write("X-Slow: 1\r\n");
  else if (mode === "body") socket.write("a");
  else socket.resume();
}

/** Local ports of connections that the server has not ended, from the kernel's table, so that nothing needs to be read. */
function establishedPorts(): Set<number> {
  const ports = new Set<number>();
  for (const line of readFileSync("/proc/net/tcp", "latin1").split("\n").slice(1)) {
    const [, local = "", remote = "", state] = line.trim().split(/\s+/);
    if (state !== STATE_ESTABLISHED || Number.parseInt(remote.split(":")[1] ?? "", 16) !== port)
      continue;
    ports.add(Number.parseInt(local.split(":")[1] ?? "", 16));
  }
  return ports;
}

function countEnded(): void {
  const established = establishedPorts();
  const nowMs = performance.now();
  for (const connection of slow) {
    const { socket, openedAtMs } = connection;
    const isOpen = !socket.destroyed && established.has(socket.localPort ?? 0);
    if (isOpen) continue;
    ended += 1;
    oldestEndedMs = Math.max(oldestEndedMs, nowMs - openedAtMs);
    socket.destroy();
    slow.delete(connection);
  }
}

function report(): void {
  const nowMs = performance.now();
  let oldestMs = oldestEndedMs;
  for (const { openedAtMs } of slow) oldestMs = Math.max(oldestMs, nowMs - openedAtMs);
  const line: SlowReport = { open: slow.size, ended, oldestMs: Math.round(oldestMs) };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

setPriority(LOWEST_PRIORITY);
let turn: Slow[] = [];
const ticker = setInterval(() => {
  for (let due = Math.ceil((slow.size * TICK_MS) / TRICKLE_MS); due > 0; due -= 1) {
    const connection = turn.pop();
    if (connection === undefined) {
      turn = [...slow];
      break;
    }
    if (!connection.socket.destroyed) trickle(connection);
  }
  for (let i = 0; i < OPENED_AT_ONCE && slow.size + opening < wanted; i += 1)
    open(MODES[(slow.size + opening) % MODES.length] ?? "head");
}, TICK_MS);
const reporter = setInterval(() => {
  countEnded();
  report();
}, REPORT_MS);
process.stdin
  .on("close", () => {
    clearInterval(ticker);
    clearInterval(reporter);
    for (const { socket } of slow) socket.destroy();
  })
  .resume();
