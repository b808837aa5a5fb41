import { formatCount } from "../../format/figure.ts";
import type { Columns, Update } from "./use-updates.ts";

/** What a file is called that was sent without a name, such as by a key. Its day, its rows and who sent it tell it from others. */
export const UNNAMED_FILE = "File without a name";

/** What the rows of a file do, or have done, in words. */
export function countsInWords({ counts, status }: Pick<Update, "counts" | "status">): string {
  const isChecked = status === "checking" || status === "checked";
  const counted: readonly (readonly [number, string])[] = [
    [counts.changed, isChecked ? "would change" : "changed"],
    [counts.undone, "undone"],
    [counts.kept, "changed since, kept"],
    [counts.unchanged, "already so"],
    [counts.unknown, "unknown"],
    [counts.refused, "refused"],
    [counts.duplicate_row, "named twice"],
  ];
  const words = counted
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${formatCount(count)} ${what}`);
  const rows = counted.reduce((sum, [count]) => sum + count, 0);
  return words.length === 0
    ? "no rows yet"
    : `${formatCount(rows)} ${rows === 1 ? "row" : "rows"}: ${words.join(", ")}`;
}

/** The fields that a column may stand for, as people read them. */
export const FIELD_CHOICES: readonly (readonly [field: Columns[string], words: string])[] = [
  ["", "Not read"],
  ["conversion_id", "Conversion ID"],
  ["offer", "Offer"],
  ["txid", "Order number"],
  ["event", "Event"],
  ["click_id", "Click ID"],
  ["status", "Status"],
  ["sale_amount", "Sale amount"],
  ["revenue", "Revenue (the advertiser pays)"],
  ["payout", "Payout (the partner gets)"],
  ["currency", "Currency"],
  ["reason", "Reason"],
  ["note", "Note"],
];

export const FIELD_WORDS: ReadonlyMap<string, string> = new Map(FIELD_CHOICES);
