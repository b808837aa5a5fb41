import { expect, test } from "vitest";
import { type Received, startReceiver } from "../../integration/outgoing/receiver.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";
import { until } from "../../system/until.ts";
import { verifyWebhook } from "../../system/verify-webhook.ts";

const SECRET = `whsec_${"0123".repeat(12)}`;
/** The lease of 30 s, plus the time in which another process sends what it takes over. */
const LEASE_ENDS_MS = 45_000;
const ENV = { ALLOW_PRIVATE_DESTINATIONS: "1" };
const PATHS = ["/refused", "/moved", "/hook"];
/** Each of these would change the row or send something if the worker still had its lease. */
const LATE_ANSWERS: Readonly<Record<string, { status: number; location?: string }>> = {
  "/refused": { status: 500 },
  "/moved": { status: 302, location: "/landed" },
  "/hook": { status: 410 },
};

test("a worker frozen beyond its leases changes and sends nothing when it wakes up (P22, P24)", async () => {
  await using fleet = await ConversionFleet.open(0);
  await using receiver = await startReceiver();
  const { world } = fleet;
  world.startLane();
  const offerId = await world.addOffer();
  for (const path of ["/refused", "/moved"]) {
    const url = `http://127.0.0.1:${receiver.port}${path}`;
    await world.insert("postback", { workspace_id: world.workspaceId, offer_id: offerId, url });
  }
  await world.insert("webhook", {
    workspace_id: world.workspaceId,
    name: "all",
    secret: SECRET,
    url: `http://127.0.0.1:${receiver.port}/hook`,
    events: ["conversion.created"],
  });
  /** Answers to the worker that will be frozen, held back until another worker has taken over. */
  const held = new Map<string, () => void>();
  receiver.answer((response, { target }) => {
    if (target === "/landed" || held.has(target)) {
      if (target === "/moved") response.writeHead(302, { location: "/landed" });
      response.end();
      return;
    }
    const { status, location } = LATE_ANSWERS[target] ?? { status: 404 };
    held.set(target, () => {
      response.writeHead(status, location === undefined ? {} : { location }).end();
    });
  });
  const requestsTo = (path: string): Received[] =>
    receiver.received.filter(({ target }) => target === path);
  const rows = async () => await world.rows("select * from delivery order by id");

  const frozenPort = await fleet.addProcessor(0, "delivery", ENV);
  const { click_id } = await world.addClick({ offer_id: offerId });
  await world.report({ click_id });
  await until("the first worker waits for its answers", () => held.size === PATHS.length, {
    pollMs: 20,
  });
  const leases = await world.rows<{ lease_token: string }>("select lease_token from delivery");
  fleet.freeze(0);
  await fleet.addProcessor(1, "delivery", ENV);
  await until(
    "the other worker has delivered all of it",
    async () => (await rows()).every(({ status }) => status === "delivered"),
    { timeoutMs: LEASE_ENDS_MS },
  );
  const overtaken = await rows();
  expect(leases.filter(({ lease_token }) => lease_token !== null)).toHaveLength(PATHS.length);

  for (const answer of held.values()) answer();
  fleet.thaw(0);
  const metrics = await until(
    "the frozen worker has read the answers and found each of its leases gone",
    async () => {
      const text = await (await fetch(`http://127.0.0.1:${frozenPort}/metrics`)).text();
      const unrecorded = [
        ...text.matchAll(/^tracker_delivery_attempts_total\{.*"unrecorded"\} (\d+)$/gm),
      ];
      const sum = unrecorded.reduce((total, [, count]) => total + Number(count), 0);
      return sum === PATHS.length && text;
    },
  );
  expect(metrics).not.toMatch(/result="(?:delivered|retrying|failed)"\} [1-9]/);
  expect(await rows()).toEqual(overtaken);
  expect(overtaken.map(({ attempts, error }) => ({ attempts, error }))).toEqual(
    PATHS.map(() => ({ attempts: 2, error: "" })),
  );
  for (const path of PATHS) {
    const [first, second, ...more] = requestsTo(path);
    expect(more, path).toEqual([]);
    expect(second?.headers["x-tracker-delivery"]).toBe(first?.headers["x-tracker-delivery"]);
  }
  const documents = requestsTo("/hook").map((request) => verifyWebhook(request, SECRET).id);
  expect(new Set(documents).size).toBe(1);
  // The redirect was followed once, by the worker that had taken over, and never by the frozen one.
  expect(requestsTo("/landed")).toHaveLength(1);
});
