import { randomInt } from "node:crypto";
import { reservePort } from "../../deploy/local/ports.ts";

const FIRST_PORT = 10_100;
const LAST_PORT = 19_000;
const PICKS_MAX = 200;

/** The first of `count` free ports in a row, which are reserved for as long as this process lives. */
export async function freePorts(count: number): Promise<number> {
  for (let pick = 0; pick < PICKS_MAX; pick += 1) {
    const first = randomInt(FIRST_PORT, LAST_PORT - count);
    if (await reserveRow(first, count)) return first;
  }
  throw new Error(`no ${count} free ports in a row among ${PICKS_MAX} tried`);
}

async function reserveRow(first: number, count: number): Promise<boolean> {
  for (let port = first; port < first + count; port += 1)
    if (!(await reservePort("127.0.0.1", port))) return false;
  return true;
}
