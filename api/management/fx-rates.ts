import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { parseDay } from "../../schemas/time/calendar.ts";
import { staff, wholeAdminWrite } from "../access/access-of-operations.ts";
import { showTo } from "../access/visibility.ts";
import { type FieldFaults, type Operation, operation } from "../operation.ts";
import { currency, shownTime } from "../rest/body-fields.ts";
import type { Position } from "../rest/cursor.ts";
import { keptPlan } from "../rest/kept-plan.ts";
import { openPage } from "../rest/page.ts";
import { currencyParam, pageParams } from "../rest/query-fields.ts";

const ROWS_MAX = 5_000;
/** Units per EUR: as many digits as Postgres keeps. */
const RATE = /^\d{1,13}(\.\d{1,10})?$/;

const isDay = (text: string): boolean => parseDay(text) !== undefined;

const Rate = z.strictObject({
  date: z.string("expected a date").refine(isDay, "expected a date such as 2025-01-31"),
  currency: currency.refine((code) => code !== "EUR", "rates are given per EUR"),
  rate: z
    .string("expected a decimal string")
    .regex(RATE, 'expected a decimal string such as "1.0842"')
    .refine((rate) => /[1-9]/.test(rate), "expected a rate above 0"),
});
type Rate = z.infer<typeof Rate>;

/** One rate, or several in `rows`. */
const Body = Rate.partial().extend({
  rows: z
    .array(Rate, "expected a list of rates")
    .min(1, "expected a rate")
    .max(ROWS_MAX, `expected at most ${ROWS_MAX} rates`)
    .optional(),
});

const Shown = z
  .strictObject({
    date: z.string(),
    currency: z.string(),
    rate: z.string().meta({ description: "Units of the currency per EUR" }),
    updated_at: shownTime,
  })
  .meta({ id: "FxRate" });

type RateRow = { date: string; currency: string; rate: string; updated_at: string };

export const listFxRates: Operation = operation({
  name: "listFxRates",
  method: "GET",
  path: "/fx-rates",
  tag: "Management",
  summary: "Daily reference rates, newest day first",
  access: staff("reports.read"),
  input: { query: z.object({ ...pageParams, currency: currencyParam }) },
  output: z.object({ data: z.array(Shown), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listFxRates", query);
    const rows = await listRates(context.db, { ...page, currency: query.currency });
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.date, id: row.currency }),
        show: (row) => showTo(context.principal.role, "fx_rate", row),
      }),
    };
  },
});

export const setFxRates: Operation = operation({
  name: "setFxRates",
  method: "POST",
  path: "/fx-rates",
  tag: "Management",
  summary: "Set reference rates, one or up to 5,000; they count for the whole installation",
  description:
    "A body is one rate or `{rows: […]}`. What is set by hand stays: the daily feed does not replace it.",
  access: wholeAdminWrite,
  input: { body: Body },
  output: z.object({ data: z.union([z.array(Shown), Shown]) }),
  status: 201,
  findFaults: async (_context, { body }) => await Promise.resolve(formFaults(body)),
  run: async ({ db, principal }, { body }) => {
    const { rows: given, ...one } = body;
    const rows = await setRates(db, given ?? [Rate.parse(one)]);
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
  return Object.fromEntries(wrong.map((field) => [field, isList ? "not beside rows" : "required"]));
}

async function listRates(
  db: Queryable,
  page: {
    readonly currency: string | undefined;
    readonly after: Position | undefined;
    readonly rowsMax: number;
  },
): Promise<RateRow[]> {
  const { rows } = await db.query<RateRow>({
    ...keptPlan("list-fx-rates", { currency: page.currency }),
    text: `select date, currency, trim_scale(rate)::text as rate, updated_at from fx_rate
           where (date, currency) < ($1::date, $2::text) and ($3::text is null or currency = $3)
           order by date desc, currency desc limit $4`,
    values: [page.after?.at ?? "infinity", page.after?.id ?? "", page.currency, page.rowsMax],
  });
  return rows;
}

/** The later of two rows of a day and currency counts. */
async function setRates(db: Queryable, rates: readonly Rate[]): Promise<RateRow[]> {
  const last = new Map(rates.map((rate) => [`${rate.date} ${rate.currency}`, rate]));
  const { rows } = await db.query<RateRow>({
    name: "set-fx-rates",
    text: `insert into fx_rate (date, currency, rate, source)
           select date, currency, rate, 'manual' from jsonb_to_recordset($1) as r(date date, currency text, rate numeric)
           on conflict (date, currency) do update
           set rate = excluded.rate, source = 'manual', updated_at = clock_timestamp()
           returning date, currency, trim_scale(rate)::text as rate, updated_at`,
    values: [JSON.stringify([...last.values()])],
  });
  return rows;
}
