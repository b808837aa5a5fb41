import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { echoRange, resolveRange } from "../../../schemas/time/range.ts";
import { staff } from "../../access/access-of-operations.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { rangeEcho, rangeParams, wordParam } from "../../http/query-fields.ts";
import { invalidParameter } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";

const INTERVALS = ["hour", "day"] as const;
/** Hours of eight days, or the 31 days for which the log can have rows. */
const DAYS_MAX = { hour: 8, day: 31 } as const;
/** Calls that are counted. Reading so many takes about a second. */
const ROWS_MAX = 1_000_000;

type SummaryRow = { readonly ts: string; readonly result: string; readonly count: number };

export const summarisePostbackLog: Operation = operation({
  name: "summarisePostbackLog",
  method: "GET",
  path: "/postback-log/summary",
  tag: "Management",
  summary: "Count inbound calls",
  description:
    `By hour or day and result; the last 7 days unless a range is given. Hours and days are of the time zone. The newest ${ROWS_MAX} calls of the range are counted; if there are more, \`is_whole\` is ` +
    "false, and the earliest buckets are missing or too small.",
  access: staff("conversions.read"),
  input: { query: z.object({ ...rangeParams, interval: wordParam(...INTERVALS) }) },
  output: z.object({
    data: z.array(
      shownSchema("postback_log_count", {
        ts: shownTime,
        result: z.string(),
        count: z.int(),
      }).meta({ id: "PostbackLogCount" }),
    ),
    is_whole: z.boolean(),
    range: rangeEcho,
  }),
  status: 200,
  run: async ({ db, workspace, principal, nowMs }, { query }) => {
    const { interval = "hour", ...asked } = query;
    const resolved = resolveRange(asked, {
      nowMs,
      workspaceTimezone: workspace.timezone,
      defaultPreset: "last7",
      daysMax: DAYS_MAX[interval],
    });
    if (resolved.kind === "refused") throw invalidParameter(resolved.param, resolved.message);
    const { range } = resolved;
    const rows = await summarise(db, workspace.id, { ...range, interval });
    const counted = rows.reduce((sum, { count }) => sum + count, 0);
    return {
      body: {
        data: rows.map((row) => showTo(principal.role, "postback_log_count", row)),
        is_whole: counted < ROWS_MAX,
        range: echoRange(range),
      },
    };
  },
});

type Span = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly zone: { readonly name: string };
  readonly interval: (typeof INTERVALS)[number];
};

/** In order of time, then of the result. Both ends of the range are included. */
async function summarise(
  db: Queryable,
  workspaceId: number,
  { fromMs, toMs, zone, interval }: Span,
): Promise<SummaryRow[]> {
  const { rows } = await db.query<SummaryRow>({
    name: "summarise-postback-log",
    text: `select date_trunc($4, c.ts, $5) as ts, c.result, count(*)::integer as count
           from (select l.ts, l.result from postback_log l
                 where l.workspace_id = $1 and l.ts between $2 and $3 order by l.ts desc, l.id desc limit $6) c
           group by 1, 2 order by 1, 2`,
    values: [
      workspaceId,
      new Date(fromMs).toISOString(),
      new Date(toMs).toISOString(),
      interval,
      zone.name,
      ROWS_MAX,
    ],
  });
  return rows;
}
