import { expect, test } from "vitest";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { until } from "../../system/until.ts";

const HOLDS = IS_FULL ? 10_000 : 1_000;
const SPREAD_MS = IS_FULL ? 60_000 : 8_000;
const LATE_MS_MAX = 2_000;
const HOUR_MS = 3_600_000;

const random = randomOf(SEED);

test("a held conversion is released once, within 2 s, through kill -9 and jumping clocks (P18)", async (context) => {
  await using fleet = await ConversionFleet.open(0);
  const { world } = fleet;
  const program = projectFile(".build", "test", "system", "schedule-process.js");
  const clock = projectFile(".build", "test", "system", "shift-clock.js");
  for (const shiftMs of [0, HOUR_MS, -HOUR_MS])
    fleet.add([process.execPath, "--import", clock, program], { CLOCK_SHIFT_MS: String(shiftMs) });
  await world.rows(
    `insert into conversion (id, workspace_id, offer_id, advertiser_id, event_id, event_code, is_private, status,
       status_reason, revenue, payout, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, conv_ts,
       hold_until, holds_click, holds_txid)
     select gen_random_uuid(), $1, $2, $3, 1, 'default', false, 'pending', 'hold', 1, 1, 'USD', 'cpa', 1, 'rpa', 1, 's2s',
       now(), clock_timestamp() + wait_ms * interval '1 millisecond', false, false
     from unnest($4::double precision[]) as wait_ms`,
    [
      world.workspaceId,
      await world.addOffer(),
      world.advertiserId,
      Array.from({ length: HOLDS }, () => 1_500 + random() * SPREAD_MS),
    ],
  );
  const due = await world.rows<{ id: string; hold_until: string }>(
    "select id, hold_until from conversion",
  );
  const endMs = Math.max(...due.map(({ hold_until }) => Date.parse(hold_until)));
  while (Date.now() < endMs) {
    fleet.killOne();
    await pause(700);
  }
  await until(
    "every hold is released",
    async () =>
      (await world.rows("select id from conversion where status = 'pending' limit 1")).length === 0,
    { timeoutMs: LATE_MS_MAX * 2 },
  );
  const released = await world.rows<{ conversion_id: string; at: string }>(
    "select conversion_id, at from conversion_history where actor = 'hold'",
  );
  expect(fleet.kills).toBeGreaterThan(3);
  expect(released).toHaveLength(HOLDS);
  expect(new Set(released.map(({ conversion_id }) => conversion_id)).size).toBe(HOLDS);
  const dueAtMs = new Map(due.map(({ id, hold_until }) => [id, Date.parse(hold_until)]));
  const lateMs = released.map(
    ({ conversion_id, at }) => Date.parse(at) - (dueAtMs.get(conversion_id) ?? 0),
  );
  const untimely = lateMs.filter((ms) => ms < 0 || ms > LATE_MS_MAX);
  reportCases(context, { cases: HOLDS, violations: untimely.length });
  expect(Math.min(...lateMs), "ms after its time, none before it").toBeGreaterThanOrEqual(0);
  expect(Math.max(...lateMs), "ms after its time").toBeLessThanOrEqual(LATE_MS_MAX);
});
