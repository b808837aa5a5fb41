import { expect, test } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { type Received, startReceiver } from "../../integration/outgoing/receiver.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { nodeProgram } from "../../system/service-program.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { isSignedWith, verifyWebhook, type WebhookDocument } from "../../system/verify-webhook.ts";

const CONVERSIONS = IS_FULL ? 5_000 : 150;
const SENDERS = 4;
const ROTATE_EVERY_MS = 100;
/** Texts that reveal a careless serialiser, or a signature over other bytes than those sent. */
const ODD_TEXTS = ["ü ☃ 𝄞", 'a"b\\c', "</script>\u2028", "line\nbreak\ttab", "\u0001\u007f", "é é"];

const Webhook = z.object({ data: z.looseObject({ id: z.int(), secret: z.string() }) });

const random = randomOf(SEED);

test("every attempt is signed over its bytes with the current secret, while secrets rotate (P26)", async (context) => {
  await using fleet = await ConversionFleet.open(0);
  await using receiver = await startReceiver();
  const { world } = fleet;
  world.startLane();
  world.startWriters();
  const port = await freePort();
  const apiEnv = { API_PORT: String(port), ALLOW_PRIVATE_DESTINATIONS: "1" };
  const settings = { RATE_LIMIT_PER_MINUTE: "1000000", EXIT_WITH_PARENT: "1", LOG_LEVEL: "error" };
  fleet.add(nodeProgram("api"), { ...apiEnv, ...settings });
  const waits = Array.from({ length: 50 }, () => "50ms").join(",");
  const delivery = { ALLOW_PRIVATE_DESTINATIONS: "1", WEBHOOK_RETRY_SCHEDULE: waits };
  for (let i = 0; i < 2; i += 1) await fleet.addProcessor(i, "delivery", delivery);
  const { workspaceId } = world;
  const key = await insertKey(world.pool, { workspaceId, name: "admin", role: "admin" });
  const call = async (path: string, body?: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return Webhook.parse(await answer.json()).data;
  };
  await until(
    "the API answers",
    async () => (await fetch(`http://127.0.0.1:${port}/health`)).status === 200,
  );
  receiver.answer((response) => response.writeHead(random() < 0.3 ? 500 : 200).end());
  const hook = await call("/webhooks", {
    name: "rotating",
    url: `http://127.0.0.1:${receiver.port}/`,
    events: ["conversion.created"],
  });

  /** Every secret, and the time from which it certainly applied. */
  const secrets = [{ secret: hook.secret, sinceMs: 0 }];
  let isEnding = false;
  const rotating = (async () => {
    while (!isEnding) {
      await pause(ROTATE_EVERY_MS);
      const { secret } = await call(`/webhooks/${hook.id}/rotate-secret`);
      secrets.push({ secret, sinceMs: Date.now() });
    }
  })();
  const offerId = await world.addOffer();
  const numbers = Array.from({ length: CONVERSIONS }, (_, i) => i).values();
  const send = async (): Promise<void> => {
    for (const i of numbers) {
      const sub1 = ODD_TEXTS[i % ODD_TEXTS.length] ?? "";
      const { click_id } = world.addYoungClick({ offer_id: offerId, sub1 });
      await world.report({ click_id });
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  await until(
    "every document has arrived",
    async () =>
      (await world.rows("select id from delivery where status = 'delivered'")).length ===
      CONVERSIONS,
    { timeoutMs: 60_000 },
  );
  isEnding = true;
  await rotating;

  const attempts = receiver.received.map((request) => readAttempt(request, secrets));
  const faults = attempts.filter(({ age, due }) => age < due);
  reportCases(context, { cases: attempts.length, violations: faults.length });
  expect(faults).toEqual([]);
  const byDelivery = new Map<string, Attempt[]>();
  for (const attempt of attempts) {
    const id = deliveryOf(attempt.request);
    byDelivery.set(id, [...(byDelivery.get(id) ?? []), attempt]);
  }
  expect(byDelivery.size).toBe(CONVERSIONS);
  for (const [, again] of byDelivery) {
    expect(new Set(again.map(({ request }) => request.body)).size).toBe(1);
    // An attempt starts after the previous one has arrived, so it uses a secret at least as new as the one that applied then.
    const late = again.slice(1).filter(({ age }, i) => age < secretAt(again[i], secrets));
    expect(late).toEqual([]);
  }
  const texts = new Set(attempts.map(({ document }) => document.data["sub1"]));
  expect(texts).toEqual(new Set(ODD_TEXTS));
  const used = new Set(attempts.map(({ age }) => age)).size;
  const repeated = attempts.length - CONVERSIONS;
  expect(used).toBeGreaterThan(2);
  expect(repeated).toBeGreaterThan(10);
  process.stdout.write(
    `P26: ${attempts.length} signed requests of ${CONVERSIONS} documents, ${repeated} repeated, ${secrets.length} secrets, ${used} of them used\n`,
  );
});

type Secrets = readonly { readonly secret: string; readonly sinceMs: number }[];
type Attempt = {
  readonly request: Received;
  readonly document: WebhookDocument;
  /** Index of the secret that signed it. */
  readonly age: number;
  /** Index of the oldest secret that may have signed it: the one that applied when the event was queued. */
  readonly due: number;
};

/** @throws if no secret fits. */
function readAttempt(request: Received, secrets: Secrets): Attempt {
  const age = secrets.findIndex(({ secret }) => isSignedWith(request, secret));
  const document = verifyWebhook(request, secrets[age]?.secret ?? "");
  const queuedMs = Date.parse(document.created_at);
  const due = secrets.findLastIndex(({ sinceMs }) => sinceMs < queuedMs);
  return { request, document, age, due };
}

function secretAt(attempt: Attempt | undefined, secrets: Secrets): number {
  return secrets.findLastIndex(({ sinceMs }) => sinceMs < (attempt?.request.atMs ?? 0));
}

function deliveryOf({ headers }: Received): string {
  return String(headers["x-tracker-delivery"]);
}
