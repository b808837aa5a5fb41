import { expect, test } from "vitest";
import { holdDeliveries, releaseDeliveries } from "../../../api/cli/delivery-hold.ts";
import { serveHtmlPostbacks } from "../../../processors/delivery/serve-html.ts";
import { HtmlPostbacks } from "../../../schemas/events/html-postbacks.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { DeliveryWorld } from "./delivery-world.ts";

const REFUSED = "HTML postbacks need an iframe or script pixel";

const world = await forThisFile(DeliveryWorld.open());
world.startLane();
const { pool, nats } = world.tracking;
await forThisFile(
  serveHtmlPostbacks({ pool, nats, log: openLog({ process: "test", level: "silent" }) }),
);

/** Requests documents as ingress does before it answers an iframe pixel. */
async function requested(conversionId: string): Promise<string[]> {
  const { connection, subjects } = world.tracking.nats;
  const answer = await connection.request(
    subjects.htmlPostbacks,
    JSON.stringify({ conversionId }),
    { timeout: 5_000 },
  );
  return HtmlPostbacks.parse(answer.json()).documents;
}

/** An offer with HTML postbacks of these fields. */
async function offerWith(...postbacks: Readonly<Record<string, unknown>>[]): Promise<number> {
  const offerId = await world.tracking.addOffer();
  for (const fields of postbacks) await world.addPostback(offerId, { kind: "html", ...fields });
  return offerId;
}

/** A conversion that a pixel reports; returns its id. */
async function pixelConversion(offerId: number, params = {}, click = {}): Promise<string> {
  const { click_id } = await world.tracking.addClick({ offer_id: offerId, ...click });
  const { body } = await world.tracking.report({ click_id, ...params }, { endpoint: "px" });
  return String(body["conversion_id"]);
}

test("an iframe pixel contains the HTML of its conversion once, as the log has it (PBO-032)", async () => {
  const offerId = await offerWith(
    { body: "<img src='https://p.example/?s={sub1}'>" },
    { body: "<b>{status}</b>", affiliate_id: null, fire_on: "any" },
    { body: "never", fire_on: "reversal" },
  );
  const id = await pixelConversion(offerId, {}, { sub1: "<a'>" });
  const [first, second] = await Promise.all([requested(id), requested(id)]);
  const documents = ["<img src='https://p.example/?s=%3Ca%27%3E'>", "<b>approved</b>"];
  expect([...first, ...second].toSorted()).toEqual(documents.toSorted());
  expect(await requested(id)).toEqual([]);
  expect(await world.settled(id)).toMatchObject(
    documents.map((response_body) => ({
      status: "delivered",
      attempts: 1,
      error: "",
      response_status: null,
      response_body,
    })),
  );
});

test("HTML that no page requested within 10 s fails, and no page gets it later (PBO-032)", async () => {
  const offerId = await offerWith({ body: "<b>" });
  const id = await pixelConversion(offerId);
  const [row] = await world.deliveries(id);
  const waitMs = Date.parse(row?.due_at ?? "") - Date.now();
  expect(waitMs).toBeGreaterThan(5_000);
  expect(waitMs).toBeLessThanOrEqual(10_000);
  await world.tracking.rows("update delivery set due_at = now() where id = $1", [row?.id]);
  expect(await world.settled(id)).toMatchObject([
    { status: "failed", attempts: 0, error: REFUSED, response_body: "" },
  ]);
  expect(await requested(id)).toEqual([]);
});

test("no page contains HTML while deliveries are held (P38)", async () => {
  const id = await pixelConversion(await offerWith({ body: "<b>" }));
  await holdDeliveries(pool, "a test");
  const held = await requested(id);
  await releaseDeliveries(pool);
  expect(held).toEqual([]);
  expect(await requested(id)).toEqual(["<b>"]);
});

test("HTML of a server's conversion, or of one approved later, fails at once (PBO-032)", async () => {
  const offerId = await offerWith({ body: "<b>" });
  const byServer = await world.convert(offerId);
  expect(await world.settled(byServer)).toMatchObject([{ status: "failed", error: REFUSED }]);
  const later = await pixelConversion(offerId, { status: "pending" });
  expect(await requested(later)).toEqual([]);
  await world.setStatus(later, "approved");
  expect(await world.settled(later)).toMatchObject([{ status: "failed", error: REFUSED }]);
});

test("no page contains private events, rejected conversions or paused postbacks (PBO-020, PBO-029)", async () => {
  const offerId = await offerWith({ body: "<b>" });
  await world.tracking.addEvent(offerId, { code: "secret", is_private: true });
  const hidden = await pixelConversion(offerId, { event: "secret" });
  expect(await requested(hidden)).toEqual([]);
  expect(await world.deliveries(hidden)).toEqual([]);
  await world.tracking.addEvent(offerId, { code: "lead" });
  const becomes = await pixelConversion(offerId, { event: "lead" });
  await world.tracking.change("update offer_event set is_private = true where code = 'lead'");
  expect(await requested(becomes)).toEqual([]);
  expect(await world.settled(becomes)).toMatchObject([{ error: "event is private" }]);
  const rejected = await pixelConversion(offerId);
  await world.setStatus(rejected, "rejected");
  expect(await requested(rejected)).toEqual([]);
  expect(await world.settled(rejected)).toMatchObject([{ error: "conversion rejected" }]);
  const paused = await pixelConversion(offerId);
  await world.tracking.rows("update postback set status = 'paused' where offer_id = $1", [offerId]);
  expect(await requested(paused)).toEqual([]);
  expect(await world.settled(paused)).toMatchObject([{ error: "postback is paused" }]);
});

test("no page contains postbacks to servers or API destinations", async () => {
  const offerId = await offerWith({ kind: "s2s" }, { kind: "capi" });
  const id = await pixelConversion(offerId);
  expect(await requested(id)).toEqual([]);
  expect(await world.settled(id)).toMatchObject([
    { status: "delivered" },
    { error: "conversion API delivery is not configured" },
  ]);
});
