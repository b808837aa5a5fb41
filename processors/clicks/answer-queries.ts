import { type ClickAnswer, ClickQuery } from "../../schemas/events/click-query.ts";
import { ClickRecord } from "../../schemas/events/click-record.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { Intake } from "./intake.ts";

/** The newest of the clicks that share an ad-platform id: one person's clicks, a handful. */
const CLICKS_MAX = 100;
const OfWorkspace = ClickRecord.pick({ workspace_id: true });

/** Answers "click, please" for one lane until it is closed. Also for clicks that are not in ClickHouse yet (G162). */
export function answerQueries(
  nats: Nats,
  lane: number,
  options: { readonly intake: Intake; readonly log: Log; readonly asked: (found: boolean) => void },
): { close(): void } {
  const { intake, log, asked } = options;
  const subscription = nats.connection.subscribe(nats.subjects.clickQuery(lane), {
    callback: (error, message) => {
      if (error !== null) {
        log.error({ err: error }, "clicks.query-subscription-failed");
        return;
      }
      try {
        const query = ClickQuery.parse(JSON.parse(new TextDecoder().decode(message.data)));
        const answer = answerOf(intake, query);
        asked(answer.clicks.length > 0);
        message.respond(JSON.stringify(answer));
      } catch (failure) {
        log.error({ err: failure }, "clicks.unreadable-query");
      }
    },
  });
  return { close: () => subscription.unsubscribe() };
}

function answerOf(intake: Intake, query: ClickQuery): ClickAnswer {
  const { completeToMs } = intake.completeness;
  if (query.by === "id") {
    const row = intake.young.byId(query.clickId);
    return { completeToMs, clicks: row === undefined ? [] : [row] };
  }
  const rows = intake.young.byAdClickId(query.kind, query.value);
  const clicks = rows.filter(
    (row) => OfWorkspace.parse(JSON.parse(row)).workspace_id === query.workspaceId,
  );
  return { completeToMs, clicks: clicks.slice(-CLICKS_MAX) };
}
