import { AD_CLICK_ID_KINDS, type AdClickIdKind } from "../../../schemas/events/click-query.ts";
import { ClickRecord, ImpressionRecord } from "../../../schemas/events/click-record.ts";

/** What the writer needs of a record; the rest of its line goes to ClickHouse unread. */
export type LineHead = {
  readonly ts: number;
  readonly offerId: number;
  readonly affiliateId: number;
  readonly visitor: number;
  readonly mayBeUnique: boolean;
};

/** A partition for every month that a broken clock could name would be too many: 2020 to 2099. */
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
 * Reads a line as far as the writer needs it; undefined for one that is no record. `line` is one flat JSON object as
 * `JSON.stringify` writes it, its bytes as latin1: fields are found where they stand, for a parse of every line costs as much
 * as everything else that the writer does. What only looks like a record is refused by ClickHouse, and then checked in full
 * (`checkRow`).
 */
export function readLine(line: string): LineHead | undefined {
  // The writer's columns are appended before the last brace, which therefore has to be the last character.
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
 * Whether the click counts against click caps and makes later ones duplicates: the visitor was sent on, and not as a duplicate.
 * The rule of ingress (`noteTaken`), by what it recorded.
 */
export function wasTaken(line: string): boolean {
  return (
    valueAt(line, 'status":"redirect"') >= 0 && valueAt(line, 'status_reason":"duplicate"') < 0
  );
}

/** An ad-platform id of a line. `written` is its value as the line has it: JSON without the quotes, its UTF-8 bytes as latin1. */
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

/** Where the text of a field begins and ends, without its quotes; undefined for a field that is absent or no text. */
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

/** Whether any line of a message can be a click that a coupon stands for (TRK-037). */
export function mayHaveCoupons(text: string): boolean {
  return text.includes(`"${COUPON}`);
}

/** The id of a click that a coupon stands for; undefined for every other line. */
export function readCouponClickId(line: string): string | undefined {
  if (valueAt(line, COUPON) < 0) return undefined;
  const id = textAt(line, "click_id");
  return id === undefined ? undefined : line.slice(id.start, id.end);
}

/** The producer that the writer has added to a row. */
export function readProducer(row: string): number {
  return numberOf(row, '_producer":');
}

/** Whether any line of a message can have an ad-platform id. */
export function mayHaveAdIds(text: string): boolean {
  return AD_CLICK_ID_KINDS.some((kind) => text.includes(`"${kind}":"`));
}

/** A line whose click earns nothing, as those that are not unique (G71). Never longer than `line`. */
export function withoutEarnings(line: string): string {
  return line.includes('"click_') ? line.replace(EARNINGS, `"$1":"${NO_MONEY}"`) : line;
}

/**
 * A row that ClickHouse would not read, as our own serialiser writes it; undefined when it is none by the schema of its
 * events. What is added by the writer stays.
 */
export function checkRow(row: string, kind: "click" | "impression"): string | undefined {
  let record: unknown;
  try {
    record = JSON.parse(row);
  } catch {
    // Not JSON: told by the answer, and counted by the caller.
    return undefined;
  }
  if (typeof record !== "object" || record === null) return undefined;
  const schema = kind === "click" ? ClickRecord : ImpressionRecord;
  const checked = schema.safeParse(record);
  return checked.success ? JSON.stringify({ ...record, ...checked.data }) : undefined;
}

/** A non-negative whole number; 0 where the field is absent. `field` is `name":`. */
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
 * Where the text after `field` begins; negative without one. A quote inside a string is escaped, so a field's name between
 * bare quotes, after a comma or a brace, is the field.
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
