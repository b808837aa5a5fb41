import type { ClickhouseReader } from "../../schemas/clickhouse/connect.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { findExchangeRates } from "../../schemas/postgres/exchange-rates.ts";
import { type MoneyDay, type MoneyRead, readMoneyDays } from "./money-days.ts";
import type { DayRates, ReportPlan } from "./report-plan.ts";
import type { ReportScope } from "./report-scope.ts";

/**
 * Usable rates for the days and currencies of a report's ad costs and, if it converts, of its other money. `costRates` is undefined if
 * there are no costs, or none for this caller.
 * @throws {ApiError} `invalid_parameter` if there are more than a statement may carry.
 */
export async function readDayRates(
  { db, clickhouse }: { readonly db: Queryable; readonly clickhouse: ClickhouseReader },
  scope: ReportScope,
  read: MoneyRead,
): Promise<Pick<ReportPlan, "costRates" | "moneyRates">> {
  const { currency, converts } = read;
  const days = await readMoneyDays(clickhouse, scope, read);
  const foreign = days.filter((day) => day.currency !== currency);
  const rates = await findExchangeRates(db, foreign, { workspaceId: scope.workspaceId, currency });
  const usable = foreign.flatMap((day, index) => {
    const rate = rates[index];
    return rate === undefined ? [] : [{ ...day, ...rate }];
  });
  const ratesFor = (kind: MoneyDay["kind"]): DayRates =>
    ratesOf(usable.filter((one) => one.kind === kind));
  return {
    costRates: days.some(({ kind }) => kind === "cost") ? ratesFor("cost") : undefined,
    ...(converts ? { moneyRates: ratesFor("money") } : {}),
  };
}

function ratesOf(
  rates: readonly (MoneyDay & { readonly numerator: bigint; readonly denominator: bigint })[],
): DayRates {
  return {
    currencies: rates.map((one) => one.currency),
    dates: rates.map((one) => one.date),
    numerators: rates.map(({ numerator }) => String(numerator)),
    denominators: rates.map(({ denominator }) => String(denominator)),
  };
}
