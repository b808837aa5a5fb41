import { expect, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { IngressFleet } from "../../system/ingress-fleet.ts";
import { RollingLoad } from "../../system/rolling-load.ts";

const CYCLES = IS_FULL ? 20 : 3;
const CLICKS_PER_SECOND = IS_FULL ? Number.POSITIVE_INFINITY : 1_000;
/** Resets of about 10,000 new connections, on a kernel that does not hand them over. About one of 100 closes resets a connection. */
const RESETS_MAX = 2;

test(`${CYCLES} restarts by SIGTERM under load fail no request and lose or double no click (P34)`, async (context) => {
  await using fleet = await IngressFleet.open({ processes: 2 });
  await fleet.world.addOffer();
  await fleet.untilCurrent();
  const run = `roll${Date.now().toString(36)}`;
  const load = new RollingLoad(fleet.port, run, CLICKS_PER_SECOND);
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
  expect(load.resets).toBeLessThanOrEqual(RESETS_MAX);
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
