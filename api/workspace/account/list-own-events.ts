import { z } from "zod";
import { advertiserOnly } from "../../access/access-of-operations.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { openPage } from "../../http/page.ts";
import { pageParams } from "../../http/query-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import {
  CALLS_MAX,
  type CountedCalls,
  countCalls,
  listEventsOfAdvertiser,
  positionOfEvent,
} from "./own-events.ts";
import { advertiserIdOf } from "./own-token-operations.ts";

/** Results that are neither an error nor a status of a new conversion. They count as received only. */
const OTHER_RESULTS: ReadonlySet<string> = new Set(["duplicate", "updated", "forwarded", "test"]);

const Counts = z
  .strictObject({
    received: z.int(),
    approved: z.int(),
    pending: z.int(),
    rejected: z.int(),
    errors: z.record(z.string(), z.int()),
  })
  .meta({ id: "ReceivedCalls" });
type Counts = z.output<typeof Counts>;

const Windows = { last_at: shownTime.nullable(), last_24h: Counts, last_7d: Counts };

const Received = z
  .strictObject({
    event_id: z.int(),
    event_code: z.string(),
    event_name: z.string(),
    offer_id: z.int(),
    offer_code: z.string(),
    offer_name: z.string(),
    ...Windows,
  })
  .meta({ id: "OwnEvent" });

export const listOwnEvents: Operation = operation({
  name: "listOwnEvents",
  method: "GET",
  path: "/me/events",
  tag: "Account",
  summary: "List what was received for each event",
  description:
    "Of the advertiser's offers, in 24 hours and 7 days. Counted from the inbound log, so within a second of the call. `received` counts every call about the event, also duplicates, updates and " +
    "tests. `unassigned` counts the advertiser's calls whose event could not be found, such as those with an unknown click. Landing calls " +
    "of a page count in `received` of the default event. " +
    `The newest ${CALLS_MAX} calls are counted; if there are more, \`is_whole\` is false and the counts are too small.`,
  access: advertiserOnly("conversions.read"),
  input: { query: z.object(pageParams) },
  output: z.object({
    data: z.array(Received),
    next_cursor: z.string().nullable(),
    unassigned: z.strictObject(Windows),
    is_whole: z.boolean(),
  }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listOwnEvents", query);
    const owner = { workspaceId: context.workspace.id, advertiserId: advertiserIdOf(context) };
    const events = await listEventsOfAdvertiser(context.db, owner, page);
    const { calls, isWhole } = await countCalls(context.db, owner, {
      eventIds: events.map(({ id }) => id),
      withUnassigned: true,
      nowMs: context.nowMs,
    });
    const body = page.close(events, {
      positionOf: positionOfEvent,
      show: (event) => ({
        event_id: event.id,
        event_code: event.code,
        event_name: event.name,
        offer_id: event.offer_id,
        offer_code: event.offer_code,
        offer_name: event.offer_name,
        ...windowsOf(calls.filter(({ event_id }) => event_id === event.id)),
      }),
    });
    const unassigned = windowsOf(calls.filter(({ event_id }) => event_id === null));
    return { body: { ...body, unassigned, is_whole: isWhole } };
  },
});

function windowsOf(calls: readonly CountedCalls[]) {
  const times = calls.map(({ last_at }) => last_at).toSorted();
  return {
    last_at: times.at(-1) ?? null,
    last_24h: countsOf(calls, "last_24h"),
    last_7d: countsOf(calls, "last_7d"),
  };
}

function countsOf(calls: readonly CountedCalls[], window: "last_24h" | "last_7d"): Counts {
  const counts = { received: 0, approved: 0, pending: 0, rejected: 0 };
  const errors: Record<string, number> = {};
  for (const { result, [window]: number } of calls) {
    if (number === 0) continue;
    counts.received += number;
    if (result === "approved" || result === "pending" || result === "rejected")
      counts[result] += number;
    else if (!OTHER_RESULTS.has(result)) errors[result] = number;
  }
  return { ...counts, errors };
}
