import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { findFxFeed } from "../../../schemas/postgres/fx-feed.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { staff, unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { shownCurrency, shownDay, shownTime } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { conditionsOf } from "../../http/filter-conditions.ts";
import { type FilteredPage, openPage } from "../../http/page.ts";
import { currencyParam, pageParams } from "../../http/query-fields.ts";
import { statementName } from "../../http/statement-name.ts";
import { type FieldFaults, type Operation, operation } from "../../operation/operation.ts";
import { lastOfEach, Rate } from "./reference-rates.ts";

const ROWS_MAX = 5_000;
/** One rate, or several in `rows`. */
const Body = Rate.partial().extend({
  rows: listOf(Rate, {
    expected: "expected a list of rates",
    max: ROWS_MAX,
    tooMany: `expected at most ${ROWS_MAX} rates`,
  })
    .min(1, "expected a rate")
    .optional(),
});

const Shown = z
  .strictObject({
    date: shownDay,
    currency: shownCurrency,
    rate: z.string().meta({ description: "Units of the currency per EUR" }),
    updated_at: shownTime,
    scope: z.enum(["workspace", "installation"]).meta({
      description:
        "Owner of the rate; a usable rate of the workspace takes precedence over the installation's",
    }),
  })
  .meta({ id: "FxRate" });

const ShownFeed = z
  .strictObject({
    state: z.enum(["ok", "failed", "off", "unread"]).meta({
      description:
        "`failed`: its last attempt failed, the stored rates stay in use. `off`: FX_FEED_URL is off. `unread`: nobody has read it yet",
    }),
    source: z.string().meta({ description: "Host of the feed" }),
    attempted_at: shownTime
      .nullable()
      .meta({ description: "When it was last read, or could not be" }),
    succeeded_at: shownTime.nullable().meta({ description: "When it was last read" }),
    newest_day: shownDay.nullable().meta({ description: "The newest day that it had" }),
    error: z.string().meta({ description: "Why the last attempt failed" }),
  })
  .meta({ id: "FxFeed" });

type RateRow = {
  date: string;
  currency: string;
  rate: string;
  updated_at: string;
  scope: "workspace" | "installation";
};

export const listFxRates: Operation = operation({
  name: "listFxRates",
  method: "GET",
  path: "/fx-rates",
  tag: "Management",
  summary: "List reference rates",
  description:
    "Daily rates of the workspace and of the installation, newest day first. `feed` says whether the installation reads the daily reference rates.",
  access: staff("reports.read"),
  input: { query: z.object({ ...pageParams, currency: currencyParam }) },
  output: z.object({
    data: z.array(Shown),
    next_cursor: z.string().nullable(),
    feed: ShownFeed,
  }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listFxRates", query);
    const rows = await listRates(context.db, context.workspace.id, page);
    const closed = page.close(rows, {
      positionOf: (row) => ({ at: row.date, id: `${row.currency} ${row.scope}` }),
      show: (row) => showTo(context.principal.role, "fx_rate", row),
    });
    return { body: { ...closed, feed: await findFxFeed(context.db) } };
  },
});

export const setFxRates: Operation = operation({
  name: "setFxRates",
  method: "POST",
  path: "/fx-rates",
  tag: "Management",
  summary: "Set reference rates",
  description:
    "Sets one rate of the workspace, or up to 5,000 in `rows`. A body is one rate or `{rows: […]}`. A rate applies to this workspace on its day and the seven days after it, and takes precedence over the " +
    "installation's rates, which the daily feed and the operator set.",
  access: unrestrictedAdminWrite,
  input: { body: Body },
  output: z.object({ data: z.union([z.array(Shown), Shown]) }),
  status: 201,
  findFaults: async (_context, { body }) => await Promise.resolve(formFaults(body)),
  run: async ({ db, principal, workspace }, { body }) => {
    const { rows: given, ...one } = body;
    const rows = await setRates(db, workspace.id, given ?? [Rate.parse(one)]);
    const shown = rows.map((row) => showTo(principal.role, "fx_rate", row));
    return { body: { data: given === undefined ? shown[0] : shown } };
  },
});

/** A body is one rate or a list of them, never both. */
function formFaults(body: Readonly<Record<string, unknown>>): FieldFaults {
  const isList = body["rows"] !== undefined;
  const wrong = (["date", "currency", "rate"] as const).filter(
    (field) => (body[field] !== undefined) === isList,
  );
  return Object.fromEntries(
    wrong.map((field) => [field, isList ? "not together with rows" : "required"]),
  );
}

/**
 * Reads both layers in one order: for equal day and currency the workspace's rate comes first. Each layer is read from its own
 * index, at most one page.
 */
async function listRates(
  db: Queryable,
  workspaceId: number,
  { filters, after, rowsMax }: FilteredPage,
): Promise<RateRow[]> {
  const [afterCurrency = "", afterScope = ""] = (after?.id ?? "").split(" ");
  const conditions = conditionsOf(filters);
  const { rows } = await db.query<RateRow>({
    ...statementName("list-fx-rates", filters),
    text: `select date, currency, trim_scale(rate)::text as rate, updated_at, scope
           from (
             (select date, currency, rate, updated_at, 'workspace' as scope from workspace_fx_rate
              where workspace_id = $5 and (date, currency) < ($1::date, $2::text) ${quoteConditions(conditions, 6)}
              order by date desc, currency desc limit $3)
             union all
             (select date, currency, rate, updated_at, 'installation' from fx_rate
              where (date, currency) <= ($1::date, $2::text) and ((date, currency) < ($1::date, $2::text) or $4 = 'workspace')
                ${quoteConditions(conditions, 6)}
              order by date desc, currency desc limit $3)) layers
           order by date desc, currency desc, scope desc limit $3`,
    values: [
      after?.at ?? "infinity",
      afterCurrency,
      rowsMax,
      afterScope,
      workspaceId,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

/**
 * If a day and currency occurs twice, the later row counts. Rows are locked in one order, so uploads at once cannot deadlock, and
 * returned in the order of `rates`.
 */
async function setRates(
  db: Queryable,
  workspaceId: number,
  rates: readonly Rate[],
): Promise<RateRow[]> {
  const { rows } = await db.query<RateRow>({
    name: "set-fx-rates",
    text: `insert into workspace_fx_rate (workspace_id, date, currency, rate)
           select $2, date, currency, rate from jsonb_to_recordset($1) as r(date date, currency text, rate numeric)
           order by currency, date
           on conflict (workspace_id, currency, date) do update
           set rate = excluded.rate, updated_at = clock_timestamp()
           returning date, currency, trim_scale(rate)::text as rate, updated_at, 'workspace' as scope`,
    values: [lastOfEach(rates), workspaceId],
  });
  const places = new Map(rates.map(({ date, currency }, place) => [`${date} ${currency}`, place]));
  const placeOf = ({ date, currency }: RateRow): number => places.get(`${date} ${currency}`) ?? 0;
  return rows.toSorted((one, other) => placeOf(one) - placeOf(other));
}
