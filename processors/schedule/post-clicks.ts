import { z } from "zod";
import { JOURNALED_MS } from "../../schemas/click-lookup/journaled.ts";
import { readStoredToMs } from "../../schemas/click-lookup/stored-to.ts";
import { allShards } from "../../schemas/clickhouse/all-shards.ts";
import { selectRows } from "../../schemas/clickhouse/select.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { parseDay } from "../../schemas/time/calendar.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import { zoneOf } from "../../schemas/time/zone.ts";
import type { RoleDeps } from "../role-deps.ts";

export type ClickPostingDeps = Pick<RoleDeps, "pool" | "clickhouse"> & {
  /** Undefined: nobody is asked which clicks are stored, so only days that are older than any journal are posted. */
  readonly nats?: RoleDeps["nats"] | undefined;
};

/** Days of one round. The next round goes on with the others. */
const DAYS_PER_ROUND = 100;
/** A call posts about so many rows. The rows of one offer are never divided, so an offer with more partners makes a longer call. */
const ROWS_PER_CALL = 500;
/** More rows of a day would not fit in memory. */
const ROWS_PER_DAY_MAX = 1_000_000;
const LAST_OFFER = 2_147_483_647;

const Figure = z.object({
  offer_id: z.int(),
  affiliate_id: z.int(),
  advertiser_id: z.int(),
  currency: z.string(),
  payout: z.string(),
  revenue: z.string(),
  payout_clicks: z.int(),
  revenue_clicks: z.int(),
});
type Figure = z.infer<typeof Figure>;

type DueDay = {
  readonly workspace_id: number;
  readonly timezone: string;
  /** `YYYY-MM-DD` of the workspace. */
  readonly day: string;
  /** Readings that are due by now, the third being the last. */
  readonly due: number;
};

/**
 * Posts what clicks cost and earned, by day of the workspace, offer and partner (N40). A day is read two hours after its end, and again one
 * and three days later; what a later reading finds besides is posted as a correction. A day that ClickHouse may not have whole waits.
 * Returns the number of posted transactions.
 */
export async function postClickDays(deps: ClickPostingDeps, signal: AbortSignal): Promise<number> {
  const days = await listDueDays(deps.pool);
  if (days.length === 0) return 0;
  const nowMs = systemClock.nowMs();
  const storedToMs = Math.max(
    nowMs - JOURNALED_MS,
    (await readStoredToMs({ db: deps.pool, nats: deps.nats })) ?? 0,
  );
  let posted = 0;
  for (const day of days) {
    if (signal.aborted) break;
    const range = rangeOf(day);
    if (range.toMs > storedToMs) continue;
    posted += await postDay(deps, day, await readFigures(deps, day.workspace_id, range));
  }
  return posted;
}

function rangeOf({ day, timezone }: DueDay): { readonly fromMs: number; readonly toMs: number } {
  const zone = zoneOf(timezone);
  const number = parseDay(day);
  if (zone === undefined || number === undefined)
    throw new Error(`nobody knows the day ${day} of the time zone ${timezone}`);
  return { fromMs: zone.startOfDayMs(number), toMs: zone.startOfDayMs(number + 1) };
}

/** Days that have ended, since billing began, with a reading that is due. */
async function listDueDays(db: Queryable): Promise<readonly DueDay[]> {
  const { rows } = await db.query<DueDay>({
    name: "list-due-click-days",
    text: `select d.workspace_id, d.timezone, d.day, d.due
           from (
             select s.workspace_id, w.timezone, g.day::date as day, coalesce(c.readings, 0) as readings,
               (select count(*)::integer from unnest(array[26, 48, 96]) hours
                where (g.day + hours * interval '1 hour') at time zone w.timezone <= clock_timestamp()) as due
             from billing_settings s join workspace w on w.id = s.workspace_id
             cross join lateral generate_series(s.starts_on::timestamp,
               (clock_timestamp() at time zone w.timezone)::date - interval '1 day', interval '1 day') g(day)
             left join ledger_click_day c on c.workspace_id = s.workspace_id and c.day = g.day::date
             where s.enabled and coalesce(c.readings, 0) < 3) d
           where d.due > d.readings
           order by d.day, d.workspace_id limit $1`,
    values: [DAYS_PER_ROUND],
  });
  return rows;
}

/** The money of clicks as reports add it up. Sums are text, so that no float touches them. */
async function readFigures(
  { clickhouse }: Pick<ClickPostingDeps, "clickhouse">,
  workspaceId: number,
  range: { readonly fromMs: number; readonly toMs: number },
): Promise<Figure[]> {
  const figures = await selectRows(
    clickhouse,
    {
      name: "processors.ledger-clicks",
      text: `select offer_id, affiliate_id, advertiser_id, currency, toString(sum(click_payout)) as payout,
          toString(sum(click_revenue)) as revenue, countIf(click_payout != 0) as payout_clicks, countIf(click_revenue != 0) as revenue_clicks
        from ${allShards(clickhouse, "click")}
        where workspace_id = {workspaceId: UInt32} and ts >= fromUnixTimestamp64Milli({fromMs: Int64}, 'UTC')
          and ts < fromUnixTimestamp64Milli({toMs: Int64}, 'UTC') and status != 'blocked' and offer_id > 0
          and (click_payout != 0 or click_revenue != 0)
        group by offer_id, affiliate_id, advertiser_id, currency
        order by offer_id limit {rowsMax: UInt32}`,
      params: { workspaceId, ...range, rowsMax: ROWS_PER_DAY_MAX + 1 },
    },
    Figure,
  );
  if (figures.length > ROWS_PER_DAY_MAX)
    throw new Error(`workspace ${workspaceId} has clicks of too many offers and partners in a day`);
  return figures;
}

/** A call is a transaction of its own, and finds what was posted before. So a process that dies in between leaves the rest to the next. */
async function postDay(
  { pool }: Pick<ClickPostingDeps, "pool">,
  { workspace_id: workspaceId, day, due }: DueDay,
  figures: readonly Figure[],
): Promise<number> {
  let posted = 0;
  let from = 0;
  let afterOffer = 0;
  do {
    const to = endOfOffer(figures, from + ROWS_PER_CALL);
    const toOffer = to < figures.length ? (figures[to - 1]?.offer_id ?? 0) : LAST_OFFER;
    const { rows } = await pool.query<{ posted: number }>({
      name: "post-clicks",
      text: "select post_clicks($1, $2, $3, $4, $5) as posted",
      values: [workspaceId, day, afterOffer, toOffer, JSON.stringify(figures.slice(from, to))],
    });
    posted += rows[0]?.posted ?? 0;
    from = to;
    afterOffer = toOffer;
  } while (from < figures.length);
  await pool.query({
    name: "note-click-day",
    text: `update ledger_click_day set readings = greatest(readings, $3), read_at = clock_timestamp()
           where workspace_id = $1 and day = $2`,
    values: [workspaceId, day, due],
  });
  return posted;
}

/** The first place at or after `place` where another offer begins. */
function endOfOffer(figures: readonly Figure[], place: number): number {
  let end = Math.min(place, figures.length);
  while (end < figures.length && figures[end]?.offer_id === figures[end - 1]?.offer_id) end += 1;
  return end;
}
