import { expect, test } from "vitest";
import { startReceiver } from "../../integration/outgoing/receiver.ts";
import { reportCases } from "../../promises/report-cases.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";
import { until } from "../../system/until.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const WAITS_S = [
  5,
  30,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
  24 * HOUR,
];
/** The longest time between an attempt and the query that reads its row, on a busy machine. */
const LOOK_S = 4;

test("each of 12 attempts comes at its time, by another process after a kill -9 (P24, G126)", async (context) => {
  await using fleet = await ConversionFleet.open(0);
  await using receiver = await startReceiver();
  const { world } = fleet;
  world.startLane();
  await fleet.addProcessor(0, "delivery", { ALLOW_PRIVATE_DESTINATIONS: "1" });
  receiver.answer((response) => response.writeHead(500).end());
  const offerId = await world.addOffer();
  await world.insert("postback", {
    workspace_id: world.workspaceId,
    offer_id: offerId,
    url: `http://127.0.0.1:${receiver.port}/`,
  });
  const { click_id } = await world.addClick({ offer_id: offerId });
  await world.report({ click_id });

  const untilFailed = async (attempts: number) =>
    await until(
      `attempt ${attempts} has failed`,
      async () => {
        const rows = await world.rows<{ status: string; wait_s: number | null }>(
          `select status, extract(epoch from due_at - clock_timestamp())::float8 as wait_s
           from delivery where attempts = $1 and lease_token is null`,
          [attempts],
        );
        return rows[0];
      },
      { pollMs: 20 },
    );
  for (const [place, waitS] of WAITS_S.entries()) {
    const row = await untilFailed(place + 1);
    expect(row.status).toBe("retrying");
    expect(row.wait_s).toBeGreaterThanOrEqual(waitS * 0.8 - LOOK_S);
    expect(row.wait_s).toBeLessThanOrEqual(waitS * 1.2);
    fleet.killOne();
    // Makes the delivery due for the next process.
    await world.rows("update delivery set due_at = clock_timestamp()");
  }
  expect(await untilFailed(WAITS_S.length + 1)).toEqual({ status: "failed", wait_s: null });
  reportCases(context, { cases: WAITS_S.length + 1, violations: 0 });
  expect(receiver.received).toHaveLength(12);
});
