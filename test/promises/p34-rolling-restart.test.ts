import { expect, test } from "vitest";
import { IngressFleet } from "../system/ingress-fleet.ts";
import { RawConnection, rawRequest } from "../system/raw-http.ts";
import { IS_FULL, reportCases } from "./report-cases.ts";

const CYCLES = IS_FULL ? 20 : 4;
const KEPT_CONNECTIONS = 12;
const SHORT_CONNECTIONS = 2;

/** A load whose clients follow HTTP: they do not reuse a connection whose answer says `close`. */
class RollingLoad {
  /** Click ids of the answered requests, by number. */
  readonly answered = new Map<number, string>();
  readonly failures: string[] = [];
  closes = 0;
  readonly #port: number;
  readonly #run: string;
  readonly #loops: Promise<void>[] = [];
  #next = 0;
  #isRunning = true;

  constructor(port: number, run: string) {
    this.#port = port;
    this.#run = run;
  }

  start(): void {
    for (let i = 0; i < KEPT_CONNECTIONS; i += 1) this.#loops.push(this.#loop(true));
    for (let i = 0; i < SHORT_CONNECTIONS; i += 1) this.#loops.push(this.#loop(false));
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#loops);
  }

  async #loop(isKept: boolean): Promise<void> {
    let connection: RawConnection | undefined;
    while (this.#isRunning) {
      const number = this.#next;
      this.#next += 1;
      try {
        connection ??= await RawConnection.open(this.#port);
        if (!(await this.#request(connection, number)) && isKept) continue;
      } catch (error) {
        this.failures.push(`request ${number}: ${String(error)}`);
      }
      connection?.destroy();
      connection = undefined;
    }
    connection?.destroy();
  }

  /** Sends one request. Returns whether the connection must not be used again. */
  async #request(connection: RawConnection, number: number): Promise<boolean> {
    connection.send(rawRequest(`/r/OFFER1/PARTNR?sub1=${this.#run}&sub2=${number}`));
    const answer = await connection.answer();
    if (answer === undefined) throw new Error("the connection ended without an answer");
    const [cookie = ""] = answer.headers.get("set-cookie") ?? [];
    const id = /^trk_cid=([0-9a-f]{32})/.exec(cookie)?.[1];
    if (answer.status !== 302 || id === undefined) throw new Error(`HTTP ${answer.status}`);
    this.answered.set(number, id);
    const isLast = answer.headers.get("connection")?.[0] === "close";
    if (isLast) this.closes += 1;
    return isLast;
  }
}

test(`${CYCLES} restarts by SIGTERM under load fail no request and lose or double no click (P34)`, async (context) => {
  await using fleet = await IngressFleet.open({ processes: 2 });
  await fleet.world.addOffer();
  await fleet.untilCurrent();
  const run = `roll${Date.now().toString(36)}`;
  const load = new RollingLoad(fleet.port, run);
  load.start();
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const before = load.answered.size;
    const [oldest = 0] = fleet.pids;
    expect(await fleet.terminate(oldest)).toBe(0);
    await fleet.addIngress();
    expect(load.answered.size).toBeGreaterThan(before);
  }
  await load.stop();
  expect(load.failures.slice(0, 10)).toEqual([]);
  // Otherwise no restart would have met an open connection.
  expect(load.closes).toBeGreaterThanOrEqual(CYCLES);
  const stored = await fleet.untilShipped(load.answered.size, ({ sub1 }) => sub1 === run);
  const numbers = new Map<string, number>();
  for (const { click } of stored) numbers.set(click.click_id, Number(click.sub2));
  expect(stored).toHaveLength(load.answered.size);
  const wrong = [...load.answered].filter(([number, id]) => numbers.get(id) !== number);
  reportCases(context, { cases: load.answered.size, violations: wrong.length });
  expect(wrong.slice(0, 10)).toEqual([]);
});
