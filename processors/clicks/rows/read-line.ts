import { AD_CLICK_ID_KINDS, type AdClickIdKind } from "../../../schemas/events/click-query.ts";
import { ClickRecord, ImpressionRecord } from "../../../schemas/events/click-record.ts";
import { type Amount, parseAmount } from "../../../schemas/money/amount.ts";

/** The fields of a record that the writer needs. The rest of the line goes to ClickHouse unread. */
export type LineHead = {
  readonly ts: number;
  readonly offerId: number;
  readonly affiliateId: number;
  readonly visitor: number;
  readonly mayBeUnique: boolean;
};

/** Years 2020 to 2099: a broken clock must not create a partition for every month that it names. */
const TS_MIN = Date.UTC(2020, 0, 1);
const TS_MAX = Date.UTC(2100, 0, 1);
const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const BRACE = 123;
const DIGIT_0 = 48;
const DIGIT_9 = 57;
const NO_MONEY = "0.0000";
const COUPON = 'link_type":"coupon"';
const EARNINGS = /"(click_payout|click_revenue)":"\d+\.\d{4}"/g;

/**
 * Reads the fields of a line that the writer needs; undefined if the line is not a record. `line` is one flat JSON object as
 * `JSON.stringify` writes it, its bytes as latin1. Fields are found by text search, because parsing every line costs as much as all
 * other work of the writer. If a line only looks like a record, ClickHouse refuses it and `checkRow` checks it in full.
 */
export function readLine(line: string): LineHead | undefined {
  // The writer inserts its columns before the last brace, which must therefore be the last character.
  if (!line.startsWith('{"') || !line.endsWith("}")) return undefined;
  const ts = numberOf(line, 'ts":');
  if (ts < TS_MIN || ts >= TS_MAX) return undefined;
  return {
    ts,
    offerId: numberOf(line, 'offer_id":'),
    affiliateId: numberOf(line, 'affiliate_id":'),
    visitor: numberOf(line, 'visitor":'),
    mayBeUnique: valueAt(line, 'may_be_unique":true') >= 0,
  };
}

/**
 * Whether the click counts against click caps: the visitor was sent on, and not as a duplicate. The same rule as `noteTaken` of
 * ingress, applied to the record.
 */
export function wasTaken(line: string): boolean {
  return (
    valueAt(line, 'status":"redirect"') >= 0 && valueAt(line, 'status_reason":"duplicate"') < 0
  );
}

/** An ad ID in a line. `written` is its value as written in the line: JSON without the quotes, its UTF-8 bytes as latin1. */
export type AdId = { readonly kind: AdClickIdKind; readonly written: string };

export function readAdIds(line: string): AdId[] {
  const ids: AdId[] = [];
  for (const kind of AD_CLICK_ID_KINDS) {
    const text = textAt(line, kind);
    if (text !== undefined && text.end > text.start)
      ids.push({ kind, written: line.slice(text.start, text.end) });
  }
  return ids;
}

/** Where the text of a field begins and ends, without its quotes; undefined if the field is absent or not a string. */
export function textAt(line: string, field: string): { start: number; end: number } | undefined {
  const start = valueAt(line, `${field}":"`);
  if (start < 0) return undefined;
  let end = line.indexOf('"', start);
  while (end > 0 && isEscaped(line, end)) end = line.indexOf('"', end + 1);
  return end < 0 ? undefined : { start, end };
}

export function readWorkspaceId(line: string): number {
  return numberOf(line, 'workspace_id":');
}

/** Whether any line of a message may be a click of a coupon (TRK-037). */
export function mayHaveCoupons(text: string): boolean {
  return text.includes(`"${COUPON}`);
}

/** The id of a click of a coupon; undefined for every other line. */
export function readCouponClickId(line: string): string | undefined {
  if (valueAt(line, COUPON) < 0) return undefined;
  const id = textAt(line, "click_id");
  return id === undefined ? undefined : line.slice(id.start, id.end);
}

/** The producer that the writer has added to a row. */
export function readProducer(row: string): number {
  return numberOf(row, '_producer":');
}

/** Whether any line of a message may have an ad ID. */
export function mayHaveAdIds(text: string): boolean {
  return AD_CLICK_ID_KINDS.some((kind) => text.includes(`"${kind}":"`));
}

/** The line with all earnings of the click at zero, as for a click that is not unique (G71). Never longer than `line`. */
export function withoutEarnings(line: string): string {
  return line.includes('"click_') ? line.replace(EARNINGS, `"$1":"${NO_MONEY}"`) : line;
}

/** What a click costs, in the currency of its offer at that time. */
export type Earnings = {
  readonly currency: string;
  readonly payout: Amount;
  readonly revenue: Amount;
};

/** Undefined for a click that costs nothing. */
export function readEarnings(line: string): Earnings | undefined {
  if (!line.includes('"click_')) return undefined;
  const amount = (field: string): Amount => parseAmount(wordAt(line, field)) ?? 0n;
  const [payout, revenue] = [amount("click_payout"), amount("click_revenue")];
  if (payout === 0n && revenue === 0n) return undefined;
  return { currency: wordAt(line, "currency"), payout, revenue };
}

/** A text without escapes; "" if it is absent. */
function wordAt(line: string, field: string): string {
  const text = textAt(line, field);
  return text === undefined ? "" : line.slice(text.start, text.end);
}

/**
 * A row that ClickHouse refused, rewritten by our own serialiser; undefined if it does not match the schema of its events. Keeps the
 * columns that the writer added.
 */
export function checkRow(row: string, kind: "click" | "impression"): string | undefined {
  let record: unknown;
  try {
    record = JSON.parse(row);
  } catch {
    // Not JSON: the caller counts it.
    return undefined;
  }
  if (typeof record !== "object" || record === null) return undefined;
  const schema = kind === "click" ? ClickRecord : ImpressionRecord;
  const checked = schema.safeParse(record);
  return checked.success ? JSON.stringify({ ...record, ...checked.data }) : undefined;
}

/** A non-negative integer; 0 if the field is absent. `field` is `name":`. */
function numberOf(line: string, field: string): number {
  let at = valueAt(line, field);
  if (at < 0) return 0;
  let value = 0;
  for (;;) {
    const digit = line.charCodeAt(at);
    if (!(digit >= DIGIT_0 && digit <= DIGIT_9)) return value;
    value = value * 10 + digit - DIGIT_0;
    at += 1;
  }
}

/**
 * Where the text after `field` begins; negative if the field is absent. Quotes inside strings are escaped, so a name between unescaped
 * quotes, after a comma or a brace, is always the field.
 */
export function valueAt(line: string, field: string): number {
  let at = line.indexOf(field);
  while (at >= 0) {
    const before = line.charCodeAt(at - 2);
    if (line.charCodeAt(at - 1) === QUOTE && (before === COMMA || before === BRACE)) {
      return at + field.length;
    }
    at = line.indexOf(field, at + 1);
  }
  return -1;
}

function isEscaped(line: string, at: number): boolean {
  let slashes = 0;
  while (line.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}
