import { expect, test } from "vitest";
import { type Receiver, startReceiver } from "../../integration/outgoing/receiver.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";
import { pause } from "../../system/service.ts";
import { until } from "../../system/until.ts";

const ENDPOINTS = 50;
const HANGING = 10;
const FAILING = 10;
/** Rounds of one delivery to each endpoint. */
const ROUNDS = IS_FULL ? 300 : 40;
const WARM_UP_ROUNDS = 20;
const ROUND_MS = 200;
const RATIO_MAX = 1.5;
/** Added to the bound in CI: other work shares the machine, and the p99 of a short run is set by its few worst moments. */
const NOISE_MS = IS_FULL ? 0 : 100;
const P99_MS_MAX = 1_000;

test.for([
  { ports: ENDPOINTS, where: "on 50 ports" },
  { ports: 1, where: "on one host and port (#20, G204)" },
])(
  "10 hanging and 10 failing endpoints of 50 delay none of the other 30, $where (P23)",
  async ({ ports }, context) => {
    await using fleet = await ConversionFleet.open(0);
    const receivers = await Promise.all(Array.from({ length: ports }, startReceiver));
    try {
      const { world } = fleet;
      world.startLane();
      await fleet.addProcessor(0, "delivery", { ALLOW_PRIVATE_DESTINATIONS: "1" });
      await fleet.untilCurrent();
      const offerId = await world.addOffer();
      for (let n = 0; n < ENDPOINTS; n += 1) {
        const url = `http://127.0.0.1:${receivers[n % ports]?.port ?? 0}/${n}`;
        const { workspaceId: workspace_id } = world;
        await world.insert("postback", { workspace_id, offer_id: offerId, url });
      }
      const { click_id } = await world.addClick({ offer_id: offerId });
      const { body } = await world.report({ click_id });
      await until(
        "every endpoint has its delivery",
        () => arrivals(receivers, 0).length >= ENDPOINTS,
        {
          timeoutMs: 90_000,
        },
      );
      const p99DelayMs = async (rounds: number): Promise<number> => {
        const startedAtMs = Date.now();
        for (let round = 0; round < rounds; round += 1) {
          // Writes rows as a conversion does, for all endpoints at once.
          await world.rows(
            `insert into delivery (workspace_id, kind, endpoint_id, destination, conversion_id, trigger, facts)
             select d.workspace_id, d.kind, p.id, p.destination, d.conversion_id, d.trigger, d.facts
             from postback p, (select workspace_id, kind, conversion_id, trigger, facts from delivery
                               where conversion_id = $1 limit 1) d`,
            [body["conversion_id"]],
          );
          await pause(ROUND_MS);
        }
        const good = (): Arrival[] =>
          arrivals(receivers, startedAtMs).filter(({ endpoint }) => endpoint >= HANGING + FAILING);
        const expected = (ENDPOINTS - HANGING - FAILING) * rounds;
        await until("the good endpoints have all deliveries", () => good().length >= expected, {
          timeoutMs: 90_000,
        });
        const rows = await world.rows<{ id: string; created_at: string }>(
          "select id, created_at from delivery",
        );
        const createdAtMs = new Map(rows.map(({ id, created_at }) => [id, Date.parse(created_at)]));
        const delaysMs = good().map(({ id, atMs }) => atMs - (createdAtMs.get(id) ?? 0));
        return delaysMs.toSorted((a, b) => a - b)[Math.floor(delaysMs.length * 0.99)] ?? 0;
      };

      // Opens connections, plans statements and compiles code, so that neither measured run pays for it.
      await p99DelayMs(WARM_UP_ROUNDS);
      const undisturbedMs = await p99DelayMs(ROUNDS);
      for (const receiver of receivers) {
        receiver.answer((response, { target }) => {
          const endpoint = endpointOf(target);
          if (endpoint < HANGING) return;
          response.writeHead(endpoint < HANGING + FAILING ? 500 : 200).end();
        });
      }
      const disturbedMs = await p99DelayMs(ROUNDS);
      process.stdout.write(
        `P23: p99 from commit to receiver on ${ports} ports: ${undisturbedMs} ms with ${ENDPOINTS} good endpoints, ${disturbedMs} ms with ${HANGING} hanging and ${FAILING} failing\n`,
      );
      const boundMs = Math.min(undisturbedMs * RATIO_MAX + NOISE_MS, P99_MS_MAX);
      const violations = disturbedMs <= boundMs ? 0 : 1;
      reportCases(context, { cases: ROUNDS * ENDPOINTS, violations });
      expect(disturbedMs).toBeLessThanOrEqual(boundMs);
    } finally {
      await Promise.all(receivers.map((receiver) => receiver.close()));
    }
  },
);

type Arrival = { readonly endpoint: number; readonly id: string; readonly atMs: number };

const endpointOf = (target: string): number => Number(target.slice(1));

function arrivals(receivers: readonly Receiver[], fromMs: number): Arrival[] {
  return receivers.flatMap(({ received }) =>
    received
      .filter(({ atMs }) => atMs >= fromMs)
      .map(({ target, headers, atMs }) => ({
        endpoint: endpointOf(target),
        id: String(headers["x-tracker-delivery"]),
        atMs,
      })),
  );
}
