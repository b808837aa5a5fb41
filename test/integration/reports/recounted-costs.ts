import type { LedgerCost, LedgerRate } from "./ledger.ts";

/*
 * The exact arithmetic of a recount, and the times and rates of ad costs: from the platform's time zones, and by searching
 * rates day by day.
 */

const clocks = new Map<string, Intl.DateTimeFormat>();

/** `2025-03-30 02:00:00` */
export function clockText(atMs: number, tz: string): string {
  const clock =
    clocks.get(tz) ??
    new Intl.DateTimeFormat("sv-SE", { timeZone: tz, dateStyle: "short", timeStyle: "medium" });
  clocks.set(tz, clock);
  return clock.format(atMs);
}

const shownAt = new Map<string, number>();

/** The first instant at which clocks of a zone show a time. A skipped time is as long after the last shown one before it. */
export function firstShown(wallTime: string, tz: string): number {
  const key = `${tz} ${wallTime}`;
  const known = shownAt.get(key);
  if (known !== undefined) return known;
  const asUtcMs = Date.parse(`${wallTime.replace(" ", "T")}Z`);
  let atMs = asUtcMs - 15 * 3_600_000;
  while (clockText(atMs + 900_000, tz) <= wallTime && clockText(atMs, tz) !== wallTime)
    atMs += 900_000;
  const lastMs = Date.parse(`${clockText(atMs, tz).replace(" ", "T")}Z`);
  const found = atMs + (asUtcMs - lastMs);
  shownAt.set(key, found);
  return found;
}

/** Ten-thousandths of the report's currency; undefined without a usable rate. */
export function convertedCost(
  { currency, wall_time, amount }: LedgerCost,
  report: { readonly currency: string; readonly rates: readonly LedgerRate[] },
): bigint | undefined {
  if (currency === report.currency) return units(amount);
  const rate = convertedAt(currency, wall_time.slice(0, 10), report);
  return rate === undefined ? undefined : (rounded(units(amount) * rate.of, rate.by) ?? undefined);
}

/** The rate of a day as a fraction; undefined without a usable one. */
export function convertedAt(
  currency: string,
  date: string,
  report: { readonly currency: string; readonly rates: readonly LedgerRate[] },
): { readonly of: bigint; readonly by: bigint } | undefined {
  const [from, to] = [currency, report.currency].map((one) => perEur(one, date, report.rates));
  return from === undefined || to === undefined ? undefined : { of: to, by: from };
}

/** Units of a currency per EUR, times 10^10. */
function perEur(currency: string, date: string, rates: readonly LedgerRate[]): bigint | undefined {
  if (currency === "EUR") return 10n ** 10n;
  for (let age = 0; age <= 7; age += 1) {
    const day = new Date(Date.parse(date) - age * 86_400_000).toISOString().slice(0, 10);
    const found = rates.find((one) => one.currency === currency && one.date === day)?.rate;
    const [whole = "0", fraction = ""] = (found ?? "").split(".");
    if (found !== undefined) return BigInt(whole + fraction.padEnd(10, "0"));
  }
  return undefined;
}

export function units(decimal: string): bigint {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return BigInt(whole) * 10_000n + BigInt(fraction.padEnd(4, "0"));
}

export function rounded(of: bigint, by: bigint): bigint | null {
  if (by === 0n) return null;
  const [n, d] = by < 0n ? [-of, -by] : [of, by];
  return n >= 0n ? (2n * n + d) / (2n * d) : -((2n * -n + d) / (2n * d));
}
