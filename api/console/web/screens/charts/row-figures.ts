import type { ReportAnswer, ReportRow } from "../../client/reports.ts";

export const MONEY = ["payout", "revenue", "profit"] as const;
export const COUNTS = ["clicks", "conversions"] as const;
export type FigureName = (typeof MONEY)[number] | (typeof COUNTS)[number];

export type Amount = { readonly currency: string; readonly text: string };

/** Figures of one record: counts cover every currency, money stands apart by its currency and is never added across them. */
export type RowFigures = {
  readonly counts: Readonly<Record<(typeof COUNTS)[number], number>>;
  readonly money: Readonly<Record<(typeof MONEY)[number], readonly Amount[]>>;
};

const NO_FIGURES: RowFigures = {
  counts: { clicks: 0, conversions: 0 },
  money: { payout: [], revenue: [], profit: [] },
};

/**
 * The figures of each record, from a report by record and currency: without a conversion, each of its rows has its money in the currency
 * that it names. @throws if the report has more rows than were answered, because sums of some of them would be false.
 */
export function figuresIn(
  { data, total_rows: rows, currency }: Pick<ReportAnswer, "data" | "total_rows" | "currency">,
  entity: string,
  ids: readonly number[],
): ReadonlyMap<number, RowFigures> {
  if (rows > data.length) throw new Error("The report is too long for this list.");
  const figures = new Map(ids.map((id) => [String(id), NO_FIGURES]));
  for (const row of data) {
    const id = String(row[entity]);
    const before = figures.get(id);
    if (before !== undefined) figures.set(id, withRow(before, row, currency));
  }
  return new Map(ids.map((id) => [id, figures.get(String(id)) ?? NO_FIGURES]));
}

function withRow({ counts, money }: RowFigures, row: ReportRow, home: string): RowFigures {
  const currency = String(row["currency"] ?? "") || home;
  const added = (name: (typeof COUNTS)[number]): number => counts[name] + Number(row[name] ?? 0);
  const joined = (name: (typeof MONEY)[number]): readonly Amount[] => {
    const text = row[name];
    return typeof text === "string" ? [...money[name], { currency, text }] : money[name];
  };
  return {
    counts: { clicks: added("clicks"), conversions: added("conversions") },
    money: { payout: joined("payout"), revenue: joined("revenue"), profit: joined("profit") },
  };
}

/** What a cell shows: nothing that is zero beside something that is not; a zero alone in the currency of the record. */
export function shownAmounts(amounts: readonly Amount[], own: string): readonly Amount[] {
  const some = amounts.filter(({ text }) => /[1-9]/.test(text));
  return some.length > 0 ? some : [{ currency: own, text: "0" }];
}
