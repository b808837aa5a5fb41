import { z } from "zod";
import { clickIdParts } from "../../../schemas/ids/click-id.ts";
import { echoRange, type RangeQuery } from "../../../schemas/time/range.ts";
import { everyRole } from "../../access/access-of-operations.ts";
import { shownSchema, showTo, visibleFields } from "../../access/visibility.ts";
import { type EntityLabels, labelOf, readLabels } from "../../catalog/labels/entity-labels.ts";
import { csvAnswer, type ListCsv, listCsv } from "../../http/list-csv.ts";
import { openPage } from "../../http/page.ts";
import { rangeOfPage } from "../../http/page-range.ts";
import {
  bomParam,
  cursorParam,
  limitParam,
  listFormatParam,
  rangeEcho,
  rangeParams,
} from "../../http/query-fields.ts";
import { invalidParameter } from "../../operation/errors.ts";
import {
  type Operation,
  type OperationContext,
  type OperationResult,
  operation,
} from "../../operation/operation.ts";
import { reportScope } from "../../reports/caller.ts";
import { countedRows } from "../../reports/counted-rows.ts";
import { listFiltersParam } from "../../reports/report-params.ts";
import { clickFilterParams, readClickFilters } from "./click-filters.ts";
import { answerFields, FoundClick, isoTime, ListedClick } from "./click-row.ts";
import type { ClickSearch } from "./clicks.ts";
import {
  type AdId,
  adIdParams,
  findAdClicks,
  type LookupQuery,
  readAdId,
} from "./lookup-clicks.ts";
import { listClickById, listClicksOf, readCompleteUntil } from "./search-clicks.ts";

const COMPLETE_UNTIL = "X-Tracker-Complete-Until";
const CSV_NAME = "clicks.csv";
const DAYS_MAX = 93;
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;

const text = z.string();
const ListRow = shownSchema("click", {
  ...answerFields(ListedClick),
  offer_label: text,
  affiliate_label: text,
});
const LookupRow = z.object(answerFields(FoundClick));

export const listClicks: Operation = operation({
  name: "listClicks",
  method: "GET",
  path: "/clicks",
  tag: "Clicks",
  summary: "List clicks",
  description:
    "Newest first, or those with an ad-platform click id. Default range: today in `tz`, with `click_id` the day of that click; at most 93 days. With one of `gclid`, `gbraid` and `wbraid` the answer contains the clicks " +
    "with that id: `from` is required, at most 90 days, without paging. `filters` lists the clicks behind a cell of a report. A click is in the list about a second after its answer, by `click_id` and by an ad-platform click id at once.",
  access: everyRole("clicks.read"),
  input: {
    query: z.object({
      ...rangeParams,
      ...clickFilterParams,
      ...adIdParams,
      limit: limitParam(LIMIT_DEFAULT, LIMIT_MAX),
      cursor: cursorParam,
      filters: listFiltersParam,
      format: listFormatParam,
      bom: bomParam,
    }),
  },
  output: z.union([
    z.object({ data: z.array(ListRow), next_cursor: text.nullable(), range: rangeEcho }),
    z.object({
      data: z.array(LookupRow),
      next_cursor: z.null(),
      click_ids: z.array(text),
      range: rangeEcho,
    }),
  ]),
  status: 200,
  answerHeaders: {
    [COMPLETE_UNTIL]:
      "The list has every click of its range that was answered before this moment; later ones may follow. Absent while a click writer does not answer, and with `filters`",
  },
  otherMediaTypes: ["text/csv"],
  readsClickhouse: ({ filters, format }) =>
    filters !== undefined || format === "csv" ? "reports" : "clicks",
  run: async (context, { query }) => {
    const isCsv = query.format === "csv";
    const adId = readAdId(query);
    if (adId !== undefined) {
      if (query.filters !== undefined)
        throw invalidParameter("filters", `cannot be combined with ${adId.kind}`);
      return isCsv
        ? await lookupCsv(context, adId, query)
        : { body: await findAdClicks(context, adId, query) };
    }
    if (isCsv && query.cursor !== undefined) throw invalidParameter("cursor", "a CSV has no pages");
    const filters = readClickFilters(query, context.principal.role);
    const page = openPage(context, "listClicks", query);
    const range = rangeOfPage({ ...context, nowMs: todayOf(context, query) }, query, page, {
      defaultPreset: "today",
      daysMax: DAYS_MAX,
    });
    const { fromMs, toMs } = range;
    const counted =
      query.filters === undefined
        ? undefined
        : await countedRows(context, {
            source: "click",
            filters: query.filters,
            range,
            dateBasis: "conversion",
          });
    const search = { scope: reportScope(context.principal), fromMs, toMs, filters, counted };
    if (isCsv)
      return await csvAnswer(listCsv(clickCsv(context, search, query.click_id)), {
        name: CSV_NAME,
        bom: query.bom,
      });
    const after =
      page.after === undefined
        ? undefined
        : { atMs: Number(page.after.at), clickId: page.after.id };
    const asked = { ...search, after, limit: page.rowsMax };
    // Before the rows: what the writers know to be stored is then among them.
    const completeUntilMs = isById(asked, query.click_id)
      ? Math.min(context.nowMs, toMs)
      : await readCompleteUntil(context, asked);
    const rows = await readList(context, asked, query.click_id);
    const labels = await readRowLabels(context, rows);
    const body = page.close(rows, {
      positionOf: (row) => ({ at: String(row.ts), id: row.click_id }),
      show: (row) => shownRow(context, row, labels),
      range: { fromMs, toMs, tz: range.zone.name },
    });
    return {
      body: { ...body, range: echoRange(range) },
      headers: completeUntilMs === undefined ? {} : { [COMPLETE_UNTIL]: isoTime(completeUntilMs) },
    };
  },
});

/** A look-up by id, which has every click at once. */
function isById({ counted }: ClickSearch, clickId: string | undefined): clickId is string {
  return clickId !== undefined && counted === undefined;
}

async function readList(
  context: OperationContext,
  search: ClickSearch,
  clickId: string | undefined,
): Promise<ListedClick[]> {
  return isById(search, clickId)
    ? await listClickById(context, ListedClick, { search, clickId })
    : await listClicksOf(context, ListedClick, search);
}

/** The whole list, in pages of its own. */
function clickCsv(
  context: OperationContext,
  search: Omit<ClickSearch, "after" | "limit">,
  clickId: string | undefined,
): ListCsv<ListedClick> {
  const { role } = context.principal;
  return {
    fields: visibleFields("click", role).filter((name) => name in ListRow.shape),
    numbers: new Set(),
    read: async (last, limit) => {
      const after = last === undefined ? undefined : { atMs: last.ts, clickId: last.click_id };
      return await readList(context, { ...search, after, limit }, clickId);
    },
    show: async (rows) => {
      const labels = await readRowLabels(context, rows);
      return rows.map((row) => shownRow(context, row, labels));
    },
  };
}

async function lookupCsv(
  context: OperationContext,
  adId: AdId,
  query: LookupQuery,
): Promise<OperationResult> {
  const { data } = await findAdClicks(context, adId, query);
  const list: ListCsv<(typeof data)[number]> = {
    fields: Object.keys(LookupRow.shape),
    numbers: new Set(),
    read: (last) => Promise.resolve(last === undefined ? data : []),
    show: (rows) => rows,
  };
  return await csvAnswer(listCsv(list), { name: CSV_NAME, bom: query.bom });
}

/** The id contains the time of the click. Without an explicit range, the click is searched on that day. */
function todayOf(
  { nowMs }: OperationContext,
  query: RangeQuery & { readonly click_id?: string | undefined },
): number {
  const { click_id, from, to, preset } = query;
  const isAlone = from === undefined && to === undefined && preset === undefined;
  return click_id === undefined || !isAlone ? nowMs : Math.min(nowMs, clickIdParts(click_id).atMs);
}

type RowLabels = { readonly offers: EntityLabels; readonly affiliates: EntityLabels };

async function readRowLabels(
  { db, workspace }: OperationContext,
  rows: readonly ListedClick[],
): Promise<RowLabels> {
  const keys = (ids: number[]): { workspaceId: number; ids: number[] } => ({
    workspaceId: workspace.id,
    ids,
  });
  return {
    offers: await readLabels(db, "offer", keys(rows.map((row) => row.offer_id))),
    affiliates: await readLabels(db, "affiliate", keys(rows.map((row) => row.affiliate_id))),
  };
}

function shownRow(
  { principal }: OperationContext,
  row: ListedClick,
  { offers, affiliates }: RowLabels,
): Record<string, unknown> {
  return showTo(principal.role, "click", {
    ...row,
    ts: isoTime(row.ts),
    offer_label: labelOf(offers, row.offer_id).label,
    affiliate_label: labelOf(affiliates, row.affiliate_id).label,
  });
}
