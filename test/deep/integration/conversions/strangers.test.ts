import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type ClickLookup, ClickLookupReply } from "../../../../schemas/events/click-lookup.ts";
import { TrackingWorld } from "../../../integration/conversions/tracking-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";

/** More than a process handles and queues at once. */
const FLOOD = 1_200;
const WAVES = 3;
const POSTBACKS_PER_WAVE = 10;
const PATIENCE_MS = 25_000;

const world = await forThisFile(TrackingWorld.open());
// The writers are behind: a search for an unknown id takes its full 2 s.
world.startWriters({ completeToMs: () => 0 });
await world.nats.connection.flush();

/** Sends postbacks with a click id at once; returns their durations in ms. All must be approved. */
async function postbackTimes(offerId: number): Promise<number[]> {
  const clicks = Array.from({ length: POSTBACKS_PER_WAVE }, () =>
    world.addYoungClick({ offer_id: offerId }),
  );
  return await Promise.all(
    clicks.map(async ({ click_id }) => {
      const startedAtMs = performance.now();
      const reply = await world.report({ click_id }, { timeoutMs: PATIENCE_MS, isSentOnce: true });
      expect(reply.result).toBe("approved");
      return performance.now() - startedAtMs;
    }),
  );
}

/** Sends a pixel or a landing page with an unknown id; returns its outcome. */
async function stranger(index: number): Promise<string> {
  const gclid = randomUUID();
  if (index % 2 === 0) {
    const pixel = { endpoint: "px", timeoutMs: PATIENCE_MS, isSentOnce: true } as const;
    return (await world.report({ gclid }, pixel)).result;
  }
  const lookup: ClickLookup = {
    clickId: null,
    adClickIds: [{ kind: "gclid", value: gclid }],
    offerId: 0,
    workspaceIds: [world.workspaceId],
    receivedAtMs: Date.now(),
  };
  const { connection, subjects } = world.nats;
  const options = { timeout: PATIENCE_MS };
  const reply = await connection.request(subjects.clickLookup, JSON.stringify(lookup), options);
  return ClickLookupReply.parse(reply.json()).kind;
}

test("a flood of pixels and landing pages with made-up ids causes no refused postback (#16)", async () => {
  const offerId = await world.addOffer();
  const quiet: number[] = [];
  for (let wave = 0; wave < WAVES; wave += 1) quiet.push(...(await postbackTimes(offerId)));
  const strangers: Promise<string>[] = [];
  const flooded: number[] = [];
  try {
    for (let wave = 0; wave < WAVES; wave += 1) {
      strangers.push(...Array.from({ length: FLOOD }, (_, index) => stranger(index)));
      flooded.push(...(await postbackTimes(offerId)));
    }
  } finally {
    await Promise.allSettled(strangers);
  }
  const slowest = (times: readonly number[]): string => Math.max(...times).toFixed(0);
  process.stdout.write(
    `${flooded.length} postbacks: slowest ${slowest(quiet)} ms, beside ${FLOOD} strangers at once ${slowest(flooded)} ms\n`,
  );
  expect(new Set(await Promise.all(strangers))).toEqual(new Set(["unavailable"]));
});
