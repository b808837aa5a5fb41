import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { parseDay } from "../../../schemas/time/calendar.ts";
import { currency as currencyField } from "../../fields/body-fields.ts";
import { statementName } from "../../http/statement-name.ts";

/** Units per EUR, with as many digits as Postgres keeps. */
const RATE = /^\d{1,13}(\.\d{1,10})?$/;

const isDay = (text: string): boolean => parseDay(text) !== undefined;

/** A day's rate, by which amounts of a currency are converted. */
export const Rate = z.strictObject({
  date: z.string("expected a date").refine(isDay, "expected a date such as 2025-01-31"),
  currency: currencyField.refine((code) => code !== "EUR", "rates are given per EUR"),
  rate: z
    .string("expected a decimal string")
    .regex(RATE, 'expected a decimal string such as "1.0842"')
    .refine((rate) => /[1-9]/.test(rate), "expected a rate above 0"),
});
export type Rate = z.infer<typeof Rate>;

/** The rates as one JSON parameter. If a day and currency occurs twice, the later one counts. */
export function lastOfEach(rates: readonly Rate[]): string {
  return JSON.stringify([
    ...new Map(rates.map((rate) => [`${rate.date} ${rate.currency}`, rate])).values(),
  ]);
}

/**
 * Sets rates of the installation for the operator. The feed does not replace them (G76). Every writer of rates locks them in the order
 * of currency and date, so that writers never wait in a circle.
 */
export async function setInstallationRates(db: Queryable, rates: readonly Rate[]): Promise<void> {
  await db.query({
    name: "set-installation-fx-rates",
    text: `insert into fx_rate (date, currency, rate, source)
           select date, currency, rate, 'manual' from jsonb_to_recordset($1) as r(date date, currency text, rate numeric)
           order by currency, date
           on conflict (date, currency) do update
           set rate = excluded.rate, source = 'manual', updated_at = clock_timestamp()`,
    values: [lastOfEach(rates)],
  });
}

export type InstallationRate = {
  readonly date: string;
  readonly currency: string;
  readonly rate: string;
  readonly source: string;
};

/** Rates of the installation, newest day first. */
export async function listInstallationRates(
  db: Queryable,
  { currency, rowsMax }: { readonly currency: string | undefined; readonly rowsMax: number },
): Promise<InstallationRate[]> {
  const { rows } = await db.query<InstallationRate>({
    ...statementName("list-installation-fx-rates", { currency }),
    text: `select date, currency, trim_scale(rate)::text as rate, source from fx_rate
           where $1::text is null or currency = $1 order by date desc, currency desc limit $2`,
    values: [currency, rowsMax],
  });
  return rows;
}
