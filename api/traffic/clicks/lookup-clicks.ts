import { z } from "zod";
import { echoRange, type RangeEcho, type RangeQuery } from "../../../schemas/time/range.ts";
import { invalidParameter } from "../../operation/errors.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { reportCaller, reportScope } from "../../reports/caller.ts";
import { parseRange } from "../../reports/report-request.ts";
import { FoundClick, isoTime } from "./click-row.ts";
import { searchAdClicks } from "./search-clicks.ts";

const DAYS_MAX = 90;
/** Characters that need no encoding in a URL (G88). */
const AD_ID = /^[A-Za-z0-9._~-]{1,512}$/;
const KINDS = ["gclid", "gbraid", "wbraid"] as const;

const adIdParam = z.string().regex(AD_ID, "expected 1 to 512 URL-safe characters").optional();

export const adIdParams = { gclid: adIdParam, gbraid: adIdParam, wbraid: adIdParam };

export type AdId = { readonly kind: (typeof KINDS)[number]; readonly value: string };

export type LookupQuery = RangeQuery & {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly bom?: string | undefined;
};

type ShownRow = Omit<FoundClick, "ts"> & { readonly ts: string };

export type LookupBody = {
  readonly data: readonly ShownRow[];
  readonly next_cursor: null;
  readonly click_ids: readonly string[];
  readonly range: RangeEcho;
};

/** The ad ID that the query asks for; undefined for a plain list. @throws {ApiError} if the query has more than one. */
export function readAdId(
  query: Readonly<Partial<Record<(typeof KINDS)[number], string | undefined>>>,
): AdId | undefined {
  const given = KINDS.flatMap((kind): AdId[] => {
    const value = query[kind];
    return value === undefined ? [] : [{ kind, value }];
  });
  const [first, second] = given;
  if (first !== undefined && second !== undefined) {
    throw invalidParameter(second.kind, `cannot be combined with ${first.kind}`);
  }
  return first;
}

/**
 * The clicks with an ad ID, newest first, including clicks that ClickHouse does not have yet (G162).
 * @throws {ApiError} `unavailable` when some of them may be missing.
 */
export async function findAdClicks(
  context: OperationContext,
  adId: AdId,
  query: LookupQuery,
): Promise<LookupBody> {
  if (query.cursor !== undefined) throw invalidParameter("cursor", "a look-up has one page");
  if (query.from === undefined) throw invalidParameter("from", "required in a look-up");
  const range = parseRange(query, reportCaller(context), {
    defaultPreset: "today",
    daysMax: DAYS_MAX,
  });
  const rows = await searchAdClicks(context, FoundClick, {
    scope: reportScope(context.principal),
    fromMs: range.fromMs,
    toMs: range.toMs,
    adId,
    limit: query.limit,
  });
  return {
    data: rows.map(shownRow),
    next_cursor: null,
    click_ids: rows.map((row) => row.click_id),
    range: echoRange(range),
  };
}

function shownRow(row: FoundClick): ShownRow {
  return { ...row, ts: isoTime(row.ts) };
}
