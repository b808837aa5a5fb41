import { HtmlPostbacks, type HtmlPostbacksWanted } from "../../schemas/events/html-postbacks.ts";
import type { PostbackReply } from "../../schemas/events/postback-request.ts";
import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { ask } from "../../schemas/nats/ask.ts";
import { NO_STORE } from "../answers.ts";
import type { NatsLink } from "../nats-link.ts";
import type { Answer } from "../route.ts";

/** A page waits. What comes later is lost: the log has it as served, because nobody can know. */
const REPLY_TIMEOUT_MS = 2_000;

/** What the page of a conversion that was just recorded is to carry, once. */
export async function htmlPostbacksOf(
  link: Pick<NatsLink, "current">,
  { body }: PostbackReply,
): Promise<readonly string[]> {
  const { conversion_id: conversionId } = body;
  const isNew = body.ok && body["updated"] !== true && body["duplicate"] !== true;
  if (!isNew || typeof conversionId !== "string") return [];
  const wanted: HtmlPostbacksWanted = { conversionId };
  const carried = await ask(link.current(), {
    subject: ({ htmlPostbacks }) => htmlPostbacks,
    body: wanted,
    timeoutMs: REPLY_TIMEOUT_MS,
    answer: HtmlPostbacks,
  });
  return carried?.documents ?? [];
}

/**
 * The page of an iframe pixel. The HTML is of partners, who are no friends of the page around it, of each other or of this
 * domain: each stands in a frame of its own origin, and `sandbox` takes this domain's origin, and with it the visitor's
 * cookies, from all of them, also where the page is opened without a frame.
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
      // The address holds what the advertiser told, which is not for partners' servers.
      ["Referrer-Policy", "no-referrer"],
      ["X-Content-Type-Options", "nosniff"],
      ["X-Robots-Tag", "noindex"],
      ["X-Tracker-Conversion", outcome],
    ],
    body: `<!doctype html><meta charset="utf-8"><title></title>${frames.join("")}\n`,
  };
}
