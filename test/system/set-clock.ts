/** Preloaded into a process (`node --import`): sets its clock ahead of the machine's by the milliseconds in CLOCK_SHIFT_FILE. */
import { existsSync, readFileSync } from "node:fs";

const path = process.env["CLOCK_SHIFT_FILE"] ?? "";
const LOOK_EVERY_MS = 10;
const machineNow = Date.now.bind(Date);
let shiftMs = 0;
let lookedAtMs = Number.NEGATIVE_INFINITY;

function shiftedNow(): number {
  if (performance.now() - lookedAtMs >= LOOK_EVERY_MS) {
    lookedAtMs = performance.now();
    // A test that is over has removed the file. Without a time the process could not even log its end.
    if (existsSync(path)) shiftMs = Number(readFileSync(path, "utf8"));
  }
  return machineNow() + shiftMs;
}

Date.now = shiftedNow;
