import { randomInt } from "node:crypto";
import { portFault } from "../../deploy/local/ports.ts";

const FIRST_PORT = 10_100;
const LAST_PORT = 19_000;
const PICKS_MAX = 200;

/**
 * The first of `count` free ports in a row, somewhere in the range: tests that ask at the same moment would all get the first free ones, and one
 * would take the service of another for its own. They are not reserved: another program may take one first.
 */
export async function freePorts(count: number): Promise<number> {
  for (let pick = 0; pick < PICKS_MAX; pick += 1) {
    const first = randomInt(FIRST_PORT, LAST_PORT - count);
    const faults = await Promise.all(
      Array.from({ length: count }, (_, index) => portFault("127.0.0.1", first + index)),
    );
    if (faults.every((fault) => fault === undefined)) return first;
  }
  throw new Error(`no ${count} free ports in a row among ${PICKS_MAX} tried`);
}
