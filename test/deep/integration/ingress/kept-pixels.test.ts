import { request } from "undici";
import { expect, test } from "vitest";
import { metricAt } from "../../../services/metric-at.ts";
import { IngressFleet } from "../../../system/ingress-fleet.ts";
import { until } from "../../../system/until.ts";

const PIXELS = 24;
/** A dead process is noticed at the second check. */
const ADOPTION_MS = 40_000;
const TEST_TIMEOUT_MS = 90_000;

test(
  "pixels of an ingress that never returns are recorded once by another, with their time (P15)",
  async () => {
    await using fleet = await IngressFleet.open({ processes: 2 });
    const { world, port } = fleet;
    world.startWriters();
    const offerId = await world.addOffer({ unique_per_click: false });
    await fleet.untilCurrent();
    const clicks = Array.from({ length: PIXELS }, () => world.addYoungClick({ offer_id: offerId }));
    const before = Date.now();
    // There is no conversion processor yet.
    for (const { click_id } of clicks) {
      const url = `http://127.0.0.1:${port}/px?click_id=${click_id}&email=somebody%40example.com`;
      // Each on a new connection: the kernel distributes them over the processes.
      const answer = await request(url, { reset: true });
      await answer.body.dump();
      expect([answer.statusCode, answer.headers["x-tracker-conversion"]]).toEqual([
        200,
        "error: temporarily unavailable",
      ]);
    }
    const after = Date.now();
    const [dead = 0] = fleet.pids;
    process.kill(dead, "SIGKILL");
    await until("the process is gone", () => fleet.pids.length === 1);
    world.startLane();
    const rows = await until(
      "all pixels are recorded",
      async () => {
        const found = await world.rows<{ click_id: string; conv_ts: string }>(
          "select click_id, conv_ts from conversion where offer_id = $1",
          [offerId],
        );
        return found.length >= PIXELS ? found : undefined;
      },
      { timeoutMs: ADOPTION_MS },
    );
    expect(new Set(rows.map(({ click_id }) => click_id)).size).toBe(PIXELS);
    expect(rows).toHaveLength(PIXELS);
    for (const { conv_ts } of rows) {
      expect(Date.parse(conv_ts)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(conv_ts)).toBeLessThanOrEqual(after);
    }
    await until("the metrics show that no pixel waits", async () => {
      const [opsPort = 0] = fleet.opsPorts;
      return (
        (await metricAt(opsPort, "ingress_pixels_waiting")) === 0 &&
        (await metricAt(opsPort, 'ingress_pixels_recorded_total{result="approved"}')) > 0
      );
    });
    expect(fleet.output).toContain("pixels.kept");
    expect(fleet.output).not.toContain("somebody");
  },
  TEST_TIMEOUT_MS,
);
