import { randomUUID } from "node:crypto";
import { type HtmlPostbacks, HtmlPostbacksRequest } from "../../schemas/events/html-postbacks.ts";
import type { Log } from "../../schemas/host/log.ts";
import { causeOf } from "../../schemas/nats/cause-headers.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { refusedSettlement } from "./decide-settlement.ts";
import { leaseHtmlPostbacks, type Settlement, settleDeliveries } from "./deliveries.ts";
import type { LeasedDelivery } from "./delivery.ts";
import { htmlPostback } from "./html-postback.ts";
import { postbackObstacle } from "./postback-request.ts";
import { type PostbackSource, readPostbackSources } from "./postbacks.ts";

export type ServeHtmlDeps = { readonly pool: Pool; readonly nats: Nats; readonly log: Log };

const QUEUE_GROUP = "html-postbacks";
/** At most this many requests for HTML at once in one process. Further ones get an empty answer. */
const UNDER_WAY_MAX = 100;
/** A served postback is recorded as delivered within this time. */
const LEASE_MS = 10_000;
/** Characters of the served HTML that the delivery log keeps, as for an answer (G126). */
const LOGGED_LENGTH_MAX = 2_048;
const NONE: HtmlPostbacks = { documents: [] };

/**
 * Answers with the HTML that an iframe pixel must carry, until it is closed. HTML that was sent in an answer counts as delivered: no
 * page asks twice.
 */
export function serveHtmlPostbacks(deps: ServeHtmlDeps): { close(): Promise<void> } {
  const { nats, log } = deps;
  const underWay = new Set<Promise<void>>();
  const subscription = nats.connection.subscribe(nats.subjects.htmlPostbacks, {
    queue: QUEUE_GROUP,
    callback: (error, message) => {
      if (error !== null) {
        log.error({ err: error }, "delivery.subscription-failed");
        return;
      }
      if (underWay.size >= UNDER_WAY_MAX) {
        message.respond(JSON.stringify(NONE));
        return;
      }
      const request_id = causeOf(message)?.request_id;
      const withRequest = { ...deps, log: log.child({ request_id }) };
      const work = takeSafely(withRequest, message.data).then((answer) => {
        message.respond(JSON.stringify(answer));
      });
      underWay.add(work);
      void work
        .catch((fault: unknown) => log.warn({ err: fault }, "delivery.answer-not-sent"))
        .finally(() => underWay.delete(work));
    },
  });
  return {
    close: async () => {
      // A lost connection has nothing left to drain.
      await Promise.allSettled([subscription.drain()]);
      await Promise.allSettled(underWay);
    },
  };
}

/**
 * The page cannot wait. If Postgres fails, the page gets no HTML and the error is logged. A worker later logs these postbacks as
 * not sent.
 */
async function takeSafely(deps: ServeHtmlDeps, bytes: Uint8Array): Promise<HtmlPostbacks> {
  try {
    const { conversionId } = HtmlPostbacksRequest.parse(
      JSON.parse(new TextDecoder().decode(bytes)),
    );
    return { documents: await takeHtmlPostbacks(deps.pool, conversionId) };
  } catch (error) {
    deps.log.warn({ err: error }, "delivery.html-not-served");
    return NONE;
  }
}

/** The HTML that waits for a conversion's page, each document once: it is recorded as delivered before this resolves. */
async function takeHtmlPostbacks(pool: Pool, conversionId: string): Promise<string[]> {
  const token = randomUUID();
  const leased = await leaseHtmlPostbacks(pool, { conversionId, token, leaseMs: LEASE_MS });
  if (leased.length === 0) return [];
  const sources = await readPostbackSources(
    pool,
    leased.map(({ id }) => id),
  );
  const all = leased.map((delivery) => served(delivery, sources.get(delivery.id)));
  const settled = await settleDeliveries(pool, all);
  return all.flatMap(({ html }, index) =>
    html !== undefined && settled[index] === "settled" ? [html] : [],
  );
}

function served(
  delivery: LeasedDelivery,
  source: PostbackSource | undefined,
): { delivery: LeasedDelivery; settlement: Settlement; html?: string } {
  const error = source === undefined ? "endpoint was deleted" : postbackObstacle(delivery, source);
  if (source === undefined || error !== undefined) {
    const refused = { kind: "refused", error: error ?? "", isEndpointsFault: false } as const;
    return { delivery, settlement: refusedSettlement(refused) };
  }
  const html = htmlPostback(delivery, source);
  const settlement: Settlement = {
    status: "delivered",
    url: "",
    error: "",
    response_status: null,
    retry_in_ms: null,
    is_sent: true,
    method: null,
    body: html.replaceAll("\0", "\uFFFD"),
    is_endpoints_fault: true,
    response_body: html.slice(0, LOGGED_LENGTH_MAX).replaceAll("\0", "\uFFFD"),
  };
  return { delivery, settlement, html };
}
