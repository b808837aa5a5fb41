import { expect, test } from "vitest";
import { type Received, startReceiver } from "../../integration/outgoing/receiver.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { until } from "../../system/until.ts";
import { verifyWebhook } from "../../system/verify-webhook.ts";

const CONVERSIONS = IS_FULL ? 5_000 : 80;
/** A process needs a second to start. */
const KILL_EVERY_MS = 2_500;
/** Minimum of kills before the reversals, while reports arrive and failed deliveries are retried. */
const KILLS = IS_FULL ? 20 : 2;
const SENDERS = 16;
/** A killed process keeps its leases for 30 s. */
const LEASES_END_MS = 60_000;
const OFFERS = 10;
const SECRET = `whsec_${"0123".repeat(12)}`;
const RETRIES = Array.from({ length: 50 }, () => "200ms").join(",");
/** The statuses that each changed conversion then gets. */
const STATUSES = ["rejected", "approved", "rejected"];

const random = randomOf(SEED);

test("each delivery arrives, and again only where its first outcome was unknown (P22)", async (context) => {
  await using fleet = await ConversionFleet.open(0);
  await using receiver = await startReceiver();
  const { world } = fleet;
  world.startLane();
  const env = {
    ALLOW_PRIVATE_DESTINATIONS: "1",
    POSTBACK_RETRY_SCHEDULE: RETRIES,
    WEBHOOK_RETRY_SCHEDULE: RETRIES,
  };
  for (let i = 0; i < 2; i += 1) await fleet.addProcessor(i, "delivery", env);
  const offers: number[] = [];
  for (let i = 0; i < OFFERS; i += 1) {
    const offerId = await world.addOffer();
    offers.push(offerId);
    for (const fire_on of ["approved", "reversal"]) {
      await world.insert("postback", {
        workspace_id: world.workspaceId,
        offer_id: offerId,
        fire_on,
        url: `http://127.0.0.1:${receiver.port}/${fire_on}?c={conversion_id}&o=${i}&r={random}`,
      });
    }
  }

  await world.insert("webhook", {
    workspace_id: world.workspaceId,
    name: "all",
    url: `http://127.0.0.1:${receiver.port}/hook`,
    events: ["conversion.created", "conversion.updated"],
    secret: SECRET,
  });

  /** Deliveries whose worker may not have received the outcome, or not have recorded it. */
  const unknown = new Set<string>();
  const confirmed = new Map<string, number>();
  receiver.answer((response, request) => {
    const id = idOf(request);
    const chance = random();
    if (chance < 0.2) response.writeHead(500).end();
    else if (chance < 0.25) {
      // The request has arrived, but the sender cannot know.
      unknown.add(id);
      confirmed.set(id, (confirmed.get(id) ?? 0) + 1);
      response.destroy();
    } else if (chance < 0.26) {
      unknown.add(id);
      confirmed.set(id, (confirmed.get(id) ?? 0) + 1);
    } else {
      confirmed.set(id, (confirmed.get(id) ?? 0) + 1);
      response.end();
    }
  });

  const kill = async (): Promise<void> => {
    fleet.killOne();
    // Includes the leases of workers that were not killed, which only adds to the set.
    const leased = await world.rows<{ id: string }>(
      "select id from delivery where lease_token is not null",
    );
    for (const { id } of leased) unknown.add(id);
  };
  let isEnding = false;
  const killing = (async () => {
    while (!isEnding) {
      await pause(KILL_EVERY_MS);
      await kill();
    }
  })();

  world.startWriters();
  const clicks = Array.from({ length: CONVERSIONS }, (_, i) =>
    world.addYoungClick({ offer_id: offers[i % OFFERS] ?? 0 }),
  );
  const conversions: string[] = [];
  await withSenders(clicks, async ({ click_id }) => {
    const { body } = await world.report({ click_id });
    conversions.push(String(body["conversion_id"]));
  });
  const rejected = conversions.filter((_, i) => i % 2 === 0);
  const untilDelivered = async (count: number): Promise<void> => {
    await until(
      `${count} deliveries have arrived`,
      async () =>
        (await world.rows("select id from delivery where status = 'delivered'")).length >= count,
      { timeoutMs: LEASES_END_MS + CONVERSIONS * 100 },
    );
  };
  await until(`${KILLS} processes were killed`, () => fleet.kills >= KILLS, {
    timeoutMs: 2 * (KILLS + 1) * KILL_EVERY_MS,
  });
  isEnding = true;
  await killing;
  await untilDelivered(2 * conversions.length);
  await withSenders(rejected, async (conversion_id) => {
    for (const status of STATUSES) await world.report({ conversion_id, status });
  });
  await kill();
  await untilDelivered(2 * conversions.length + (1 + STATUSES.length) * rejected.length);

  const rows = await world.rows<{
    id: string;
    conversion_id: string;
    message: string;
    status: string;
  }>("select id, conversion_id, trigger || event as message, status from delivery");
  expect(fleet.kills).toBeGreaterThan(KILLS);
  expect(rows.filter(({ status }) => status !== "delivered")).toEqual([]);
  expect(rows.map((row) => `${row.conversion_id} ${row.message}`).toSorted()).toEqual(
    [
      ...conversions.map((id) => `${id} approved`),
      ...rejected.map((id) => `${id} reversal`),
      ...conversions.map((id) => `${id} conversion.created`),
      ...rejected.flatMap((id) => STATUSES.map(() => `${id} conversion.updated`)),
    ].toSorted(),
  );
  reportCases(context, {
    cases: rows.length,
    violations: rows.filter(({ id }) => !confirmed.has(id)).length,
  });
  expect(rows.filter(({ id }) => !confirmed.has(id))).toEqual([]);
  const twice = [...confirmed].filter(([, times]) => times > 1).map(([id]) => id);
  expect(twice.filter((id) => !unknown.has(id))).toEqual([]);
  expect(messagesOfDeliveries(receiver.received).filter((sent) => sent.size > 1)).toEqual([]);
  const documents = receiver.received
    .filter(({ target }) => target === "/hook")
    .map((request) => [idOf(request), verifyWebhook(request, SECRET).id]);
  const delivered = new Set(documents.map(([delivery]) => delivery)).size;
  expect(delivered).toBe(conversions.length + STATUSES.length * rejected.length);
  expect(new Set(documents.map(([, id]) => id)).size).toBe(delivered);
  process.stdout.write(
    `P22: ${rows.length} deliveries, ${receiver.received.length} requests, ${fleet.kills} kills, ${unknown.size} unknown outcomes, ${twice.length} arrived again\n`,
  );
});

/** Works through the items with 16 senders in parallel. */
async function withSenders<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const sender = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

/** The different requests of each delivery: every attempt must send the same request. */
function messagesOfDeliveries(received: readonly Received[]): Set<string>[] {
  const messages = new Map<string, Set<string>>();
  for (const request of received) {
    const requests = messages.get(idOf(request)) ?? new Set();
    messages.set(idOf(request), requests.add(`${request.target} ${request.body}`));
  }
  return [...messages.values()];
}

function idOf({ headers }: Received): string {
  return String(headers["x-tracker-delivery"]);
}
