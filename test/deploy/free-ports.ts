import { portFault } from "../../deploy/local/ports.ts";

const FIRST_PORT = 10_100;
const LAST_PORT = 19_000;

/** The first of `count` free ports in a row. They are not reserved: another program may take one first. */
export async function freePorts(count: number): Promise<number> {
  for (let first = FIRST_PORT; first + count < LAST_PORT; first += count) {
    const faults = await Promise.all(
      Array.from({ length: count }, (_, index) => portFault("127.0.0.1", first + index)),
    );
    if (faults.every((fault) => fault === undefined)) return first;
  }
  throw new Error(`no ${count} free ports in a row`);
}
