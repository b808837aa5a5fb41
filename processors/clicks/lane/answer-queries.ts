import { type ClickAnswer, ClickQuery } from "../../../schemas/events/click-query.ts";
import type { Log } from "../../../schemas/host/log.ts";
import { clickIdParts } from "../../../schemas/ids/click-id.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { Intake } from "../intake/intake.ts";
import type { ClickMetrics } from "../metrics.ts";

/** As JSON within JSON they stay below the 1 MiB of a NATS message. */
const UNSTORED_BYTES_MAX = 600_000;

export type QueryOptions = {
  readonly intake: Intake;
  readonly log: Log;
  readonly queries: ClickMetrics["queries"];
  /** The present time if everything in the stream was read, UTC ms. */
  readonly caughtUpMs: () => number | undefined;
};

/** Answers queries for clicks of one lane until it is closed, including clicks that are not in ClickHouse yet (G162). */
export function answerQueries(nats: Nats, lane: number, options: QueryOptions): { close(): void } {
  const { log, queries } = options;
  const subscription = nats.connection.subscribe(nats.subjects.clickQuery(lane), {
    callback: (error, message) => {
      if (error !== null) {
        log.error({ err: error }, "clicks.query-subscription-failed");
        return;
      }
      try {
        const query = ClickQuery.parse(JSON.parse(new TextDecoder().decode(message.data)));
        const answer = answerOf(options, query);
        const isFound = answer.clicks.length > 0;
        if (query.by !== "stored") queries.add(1, { found: isFound ? "true" : "false" });
        message.respond(JSON.stringify(answer));
        // Asks the producers for a message now instead of at their next interval, so that a repeated query gets a later `completeToMs`.
        if (query.by !== "id" || !isFound)
          nats.connection.publish(nats.subjects.clickPositionRequest(lane));
      } catch (failure) {
        log.error({ err: failure }, "clicks.unreadable-query");
      }
    },
  });
  return { close: () => subscription.unsubscribe() };
}

function answerOf({ intake, caughtUpMs }: QueryOptions, query: ClickQuery): ClickAnswer {
  if (query.by === "stored") return { completeToMs: intake.storedToMs(caughtUpMs()), clicks: [] };
  if (query.by === "id") {
    const row = intake.young.byId(query.clickId);
    const { producer, atMs } = clickIdParts(query.clickId);
    const { completeness } = intake;
    const { recordedBy } = query;
    return {
      completeToMs: completeness.completeToMsOf(producer),
      clicks: row === undefined ? [] : [row],
      isGivenUp: completeness.isGivenUpOf(recordedBy ?? { producer, untilMs: atMs }),
      isAllKnown: recordedBy && completeness.isAllKnownOf(recordedBy),
    };
  }
  const completeToMs = intake.completeness.completeToMs(caughtUpMs());
  if (query.by === "unstored") {
    const clicks = intake.young.unstoredWith(query, UNSTORED_BYTES_MAX);
    // With too many for an answer, the caller has to wait until they are stored.
    return clicks === undefined ? { completeToMs: 0, clicks: [] } : { completeToMs, clicks };
  }
  // A producer says in each batch among how many lanes it distributes clicks, so whoever is known until then is known with its lanes.
  const lanes = Math.max(intake.share.lanes.count, intake.completeness.lanesHeard);
  return { completeToMs, clicks: intake.young.byAdClickId(query), lanes };
}
