import { AD_CLICK_ID_KINDS } from "../../schemas/events/click-query.ts";
import { ClickRecord, ImpressionRecord } from "../../schemas/events/click-record.ts";
import { adClickHash } from "./young-clicks.ts";

/** What the writer needs of a record; the rest of its line goes to ClickHouse unread. */
export type LineHead = {
  readonly ts: number;
  readonly offerId: number;
  readonly affiliateId: number;
  readonly visitor: number;
  readonly mayBeUnique: boolean;
  /** It has a payout or a revenue of its own (G71). */
  readonly earns: boolean;
  /** What its ad-platform ids are found by. */
  readonly adHashes: readonly number[];
};

/** A partition for every month that a broken clock could name would be too many: 2020 to 2099. */
const TS_MIN = Date.UTC(2020, 0, 1);
const TS_MAX = Date.UTC(2100, 0, 1);
const NO_MONEY = "0.0000";
const NO_HASHES: readonly number[] = [];

/**
 * Reads a line as far as the writer needs it; undefined for one that is no record. Only the fields that are used are looked
 * at: the full check (`checkRow`) costs as much as the rest of the writer, and our producers write from the same schema.
 */
export function readLine(line: string, kind: "click" | "impression"): LineHead | undefined {
  // The writer's columns are appended before the last brace, which therefore has to be the last character.
  if (!line.startsWith('{"') || !line.endsWith("}")) return undefined;
  const record = parseObject(line);
  if (record === undefined) return undefined;
  const { ts } = record;
  if (typeof ts !== "number" || !Number.isInteger(ts) || ts < TS_MIN || ts >= TS_MAX) {
    return undefined;
  }
  if (kind === "click") {
    const id = record["click_id"];
    if (typeof id !== "string" || id.length !== 32) return undefined;
  }
  return {
    ts,
    offerId: numberOf(record["offer_id"]),
    affiliateId: numberOf(record["affiliate_id"]),
    visitor: numberOf(record["visitor"]),
    mayBeUnique: record["may_be_unique"] === true,
    earns: isMoney(record["click_payout"]) || isMoney(record["click_revenue"]),
    adHashes: kind === "click" ? adHashesOf(record) : NO_HASHES,
  };
}

/** What the writer adds to every row. */
export type Place = {
  readonly producer: number;
  readonly epoch: number;
  readonly position: number;
};

export function impressionRow(line: string, { producer, epoch, position }: Place): string {
  return `${line.slice(0, -1)},"_producer":${producer},"_epoch":${epoch},"_position":${position}}`;
}

/** A click that is not unique earns nothing (G71). */
export function clickRow(
  line: string,
  place: Place,
  click: { readonly isUnique: boolean; readonly earns: boolean },
): string {
  const text = click.isUnique || !click.earns ? line : withoutMoney(line);
  const { producer, epoch, position } = place;
  // Written out: this is the only part of the writer that is done for every row and could be slow.
  return `${text.slice(0, -1)},"is_unique":${click.isUnique},"_producer":${producer},"_epoch":${epoch},"_position":${position}}`;
}

/**
 * A row that ClickHouse would not read, as our own serialiser writes it; undefined when it is none by the schema of its
 * events. What is added by the writer stays.
 */
export function checkRow(row: string, kind: "click" | "impression"): string | undefined {
  const record = parseObject(row);
  if (record === undefined) return undefined;
  const schema = kind === "click" ? ClickRecord : ImpressionRecord;
  const checked = schema.safeParse(record);
  return checked.success ? JSON.stringify({ ...record, ...checked.data }) : undefined;
}

function adHashesOf(record: Readonly<Record<string, unknown>>): readonly number[] {
  let hashes: number[] | undefined;
  for (const kind of AD_CLICK_ID_KINDS) {
    const value = record[kind];
    if (typeof value !== "string" || value === "") continue;
    hashes ??= [];
    hashes.push(adClickHash(kind, value));
  }
  return hashes ?? NO_HASHES;
}

function withoutMoney(line: string): string {
  return JSON.stringify({
    ...parseObject(line),
    click_payout: NO_MONEY,
    click_revenue: NO_MONEY,
  });
}

function parseObject(text: string): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not JSON: told by the answer, and counted by the caller.
    return undefined;
  }
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function isMoney(value: unknown): boolean {
  return typeof value === "string" && value !== NO_MONEY;
}
