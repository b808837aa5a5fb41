import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Received } from "../integration/outgoing/receiver.ts";

const Document = z.looseObject({
  id: z.guid(),
  event: z.string(),
  workspace_id: z.int(),
  created_at: z.string(),
  data: z.looseObject({}),
  previous: z.looseObject({}).optional(),
  test: z.boolean().optional(),
});
export type WebhookDocument = z.infer<typeof Document>;

const OLDEST_SECONDS = 300;

/**
 * Checks a webhook as a receiver does, written from the published description alone: the signature over the raw body, its time,
 * and only then the document. @throws if anything is wrong.
 */
export function verifyWebhook(request: Received, secret: string): WebhookDocument {
  const { headers, bytes, method } = request;
  const stamp = String(headers["x-tracker-timestamp"]);
  const [, t = "", v1 = ""] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-tracker-signature"])) ?? [];
  if (method !== "POST") throw new Error(`sent as ${method}`);
  if (t === "" || t !== stamp) throw new Error(`signed for ${t}, sent at ${stamp}`);
  if (Math.abs(request.atMs / 1_000 - Number(t)) > OLDEST_SECONDS)
    throw new Error(`came at ${request.atMs}, signed for ${t}`);
  const expected = createHmac("sha256", secret)
    .update(Buffer.concat([Buffer.from(`${t}.`), bytes]))
    .digest();
  if (!timingSafeEqual(expected, Buffer.from(v1, "hex"))) throw new Error("the signature is wrong");
  const document = Document.parse(JSON.parse(bytes.toString("utf8")));
  if (document.event !== headers["x-tracker-event"])
    throw new Error(`${document.event} came as ${String(headers["x-tracker-event"])}`);
  return document;
}

/** Whether a request is correctly signed with this secret. */
export function isSignedWith(request: Received, secret: string): boolean {
  try {
    verifyWebhook(request, secret);
    return true;
  } catch {
    return false;
  }
}
