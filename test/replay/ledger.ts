import { z } from "zod";
import { type Amount, amountOf } from "../../schemas/money/amount.ts";
import type { ServiceClient } from "../system/service.ts";
import type { VisitRecord } from "./send.ts";

const ClickRow = z.object({
  click_id: z.string(),
  link_type: z.string(),
  offer_id: z.int(),
  affiliate_id: z.int(),
  smart_link_id: z.int(),
  status: z.string(),
  status_reason: z.string(),
  is_unique: z.boolean(),
  is_bot: z.boolean(),
  country: z.string(),
  device_type: z.string(),
  os: z.string(),
  browser: z.string(),
  sub2: z.string(),
  sub3: z.string(),
  destination: z.string(),
});
export type ClickRow = z.infer<typeof ClickRow>;
const ClickPage = z.object({ data: z.array(ClickRow), next_cursor: z.string().nullable() });

const ConversionRow = z.object({
  id: z.string(),
  click_id: z.string().nullable(),
  offer_id: z.int(),
  affiliate_id: z.int().nullable(),
  status: z.string(),
  status_reason: z.string(),
  is_duplicate: z.boolean(),
  payout: z.string(),
  revenue: z.string(),
  currency: z.string(),
  adv_txid: z.string().nullable(),
});
export type ConversionRow = z.infer<typeof ConversionRow>;
const ConversionPage = z.object({
  data: z.array(ConversionRow),
  next_cursor: z.string().nullable(),
});

const PAGES_MAX = 2_000;

/** Every click of the run that the service lists, newest first. `from` is an ISO time before the run. */
export async function readClicks(
  client: ServiceClient,
  run: string,
  from: string,
): Promise<ClickRow[]> {
  const rows: ClickRow[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = new URLSearchParams({
      from,
      sub1: run,
      limit: "1000",
      ...(cursor === null ? {} : { cursor }),
    });
    const answer = ClickPage.parse(await client.rest(`/clicks?${query}`));
    rows.push(...answer.data);
    cursor = answer.next_cursor;
    if (cursor === null) return rows;
  }
  throw new Error(`more than ${PAGES_MAX} pages of clicks`);
}

/** Every conversion with an order number of the run. */
export async function readConversions(
  client: ServiceClient,
  run: string,
  from: string,
): Promise<ConversionRow[]> {
  const rows: ConversionRow[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = new URLSearchParams({
      from,
      limit: "500",
      ...(cursor === null ? {} : { cursor }),
    });
    const answer = ConversionPage.parse(await client.rest(`/conversions?${query}`));
    rows.push(...answer.data.filter((row) => row.adv_txid?.startsWith(`${run}-`) === true));
    cursor = answer.next_cursor;
    if (cursor === null) return rows;
  }
  throw new Error(`more than ${PAGES_MAX} pages of conversions`);
}

/** The key that identifies the attempt of a stored click: line and attempt. */
export function attemptKey(line: number | string, attempt: number | string): string {
  return `${line} ${attempt}`;
}

/** Every attempt of every visit. An attempt without an answer may be recorded once or not at all, but not twice. */
export function attemptsByKey(records: readonly VisitRecord[]): Map<string, VisitRecord> {
  return new Map(
    records.flatMap((record) =>
      [record.answeredAttempt, ...record.unansweredAttempts].map((attempt) => [
        attemptKey(record.visit.line.number, attempt),
        record,
      ]),
    ),
  );
}

/** Sums money by currency. */
export class MoneyByCurrency {
  readonly #sums = new Map<string, Amount>();

  add(currency: string, amount: string | Amount): void {
    const value = typeof amount === "string" ? amountOf(amount) : amount;
    this.#sums.set(currency, (this.#sums.get(currency) ?? 0n) + value);
  }

  of(currency: string): Amount {
    return this.#sums.get(currency) ?? 0n;
  }

  get currencies(): string[] {
    return [...this.#sums.keys()].sort();
  }
}
