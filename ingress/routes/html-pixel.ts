import type { Cause } from "../../schemas/events/cause.ts";
import { HtmlPostbacks, type HtmlPostbacksRequest } from "../../schemas/events/html-postbacks.ts";
import type { PostbackReply } from "../../schemas/events/postback-request.ts";
import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { ask } from "../../schemas/nats/ask.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";
import { NO_STORE } from "../answers.ts";
import type { Answer } from "../route.ts";

/** The page waits at most this long for its HTML. HTML that comes later is lost but logged as served: the loss is not visible. */
const REPLY_TIMEOUT_MS = 2_000;

/** HTML postbacks of a conversion that was just recorded, to be shown once. */
export async function htmlPostbacksOf(
  link: Pick<NatsLink, "current">,
  { body }: PostbackReply,
  cause: Cause,
): Promise<readonly string[]> {
  const { conversion_id: conversionId } = body;
  const isNew = body.ok && body["updated"] !== true && body["duplicate"] !== true;
  if (!isNew || typeof conversionId !== "string") return [];
  const request: HtmlPostbacksRequest = { conversionId };
  const carried = await ask(link.current(), {
    subject: ({ htmlPostbacks }) => htmlPostbacks,
    body: request,
    cause,
    timeoutMs: REPLY_TIMEOUT_MS,
    answer: HtmlPostbacks,
  });
  return carried?.documents ?? [];
}

/**
 * The page of an iframe pixel. The HTML comes from partners and is trusted neither by the page around it, nor by each other, nor
 * by this domain. Each document has a frame of its own origin. `sandbox` removes this domain's origin, and with it the visitor's cookies,
 * from the page and all documents, also when the page is opened without a frame.
 */
export function htmlPixelAnswer(outcome: string, documents: readonly string[]): Answer {
  const frames = documents.map(
    (html) => `<iframe sandbox="allow-scripts" srcdoc="${escapeMarkup(html)}"></iframe>`,
  );
  return {
    status: 200,
    headers: [
      ["Content-Type", "text/html; charset=utf-8"],
      NO_STORE,
      ["Content-Security-Policy", "sandbox allow-scripts"],
      // The address contains the advertiser's data, which partners' servers must not get.
      ["Referrer-Policy", "no-referrer"],
      ["X-Content-Type-Options", "nosniff"],
      ["X-Robots-Tag", "noindex"],
      ["X-Tracker-Conversion", outcome],
    ],
    body: `<!doctype html><meta charset="utf-8"><title></title>${frames.join("")}\n`,
  };
}
