import { z } from "zod";
import { listStatementLines } from "../../../schemas/billing/statements.ts";
import { parseDay } from "../../../schemas/time/calendar.ts";
import { zoneOf } from "../../../schemas/time/zone.ts";
import { unrestrictedStaff } from "../../access/access-of-operations.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownMoney, shownTime } from "../../fields/body-fields.ts";
import { openPage } from "../../http/page.ts";
import { pathId } from "../../http/path-fields.ts";
import {
  currencyParam,
  dayParam,
  idParam,
  pageParams,
  wordParam,
} from "../../http/query-fields.ts";
import { notFound } from "../../operation/errors.ts";
import {
  type Operation,
  type OperationAccess,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import { isStaff } from "../../operation/principal.ts";
import { findShownStatement } from "./find-shown-statement.ts";
import {
  LINE_KINDS,
  SHARED_STATUSES,
  ShownStatement,
  ShownStatementPage,
  STATEMENT_STATUSES,
  showStatement,
} from "./statement-fields.ts";
import { listOwnStatementRows, listStatementEntries, listStatementRows } from "./statement-rows.ts";

export const partnerReads: OperationAccess = { roles: ["partner"], isWrite: false };

const period = {
  from: dayParam.meta({ description: "Periods that end on this day or later" }),
  to: dayParam.meta({ description: "Periods that end on this day or before" }),
};

export const listStatements: Operation = operation({
  name: "listStatements",
  method: "GET",
  path: "/statements",
  tag: "Billing",
  summary: "List statements",
  description: "What partners are owed for a period. Newest first.",
  access: unrestrictedStaff,
  input: {
    query: z.object({
      ...pageParams,
      status: wordParam(...STATEMENT_STATUSES),
      affiliate_id: idParam,
      currency: currencyParam,
      ...period,
      due_until: dayParam.meta({ description: "Due on this day or before" }),
    }),
  },
  output: z.object({ data: z.array(ShownStatement), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listStatements", query);
    const filters = { ...page.filters, ...ends(context, query) };
    const rows = await listStatementRows(context.db, context.workspace.id, { ...page, filters });
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showStatement(context.principal.role, row),
      }),
    };
  },
});

export const listOwnStatements: Operation = operation({
  name: "listOwnStatements",
  method: "GET",
  path: "/me/statements",
  tag: "Billing",
  summary: "List own statements",
  description: "What the partner of the key is owed for a period, from approval on. Newest first.",
  access: partnerReads,
  input: {
    query: z.object({
      ...pageParams,
      status: wordParam(...SHARED_STATUSES),
      currency: currencyParam,
      ...period,
    }),
  },
  output: z.object({ data: z.array(ShownStatement), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listOwnStatements", query);
    const filters = { ...page.filters, ...ends(context, query) };
    const affiliateId = context.principal.affiliate?.id ?? 0;
    const rows = await listOwnStatementRows(context.db, affiliateId, { ...page, filters });
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showStatement(context.principal.role, row),
      }),
    };
  },
});

/** Days as instants: a period ends with the first instant after its last day. */
function ends(
  { workspace }: OperationContext,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): { readonly from: string | undefined; readonly to: string | undefined } {
  const startOf = (day: string | undefined, add: number): string | undefined => {
    const parsed = day === undefined ? undefined : parseDay(day);
    const startMs =
      parsed === undefined ? undefined : zoneOf(workspace.timezone)?.startOfDayMs(parsed + add);
    return startMs === undefined ? undefined : new Date(startMs).toISOString();
  };
  return { from: startOf(from, 0), to: startOf(to, 1) };
}

type Readers = { readonly path: string; readonly access: OperationAccess; readonly own: string };

const STAFF: Readers = { path: "/statements", access: unrestrictedStaff, own: "" };
const PARTNER: Readers = { path: "/me/statements", access: partnerReads, own: "Own" };

function getOne({ path, access, own }: Readers): Operation {
  return operation({
    name: `get${own}Statement`,
    method: "GET",
    path: `${path}/{id}`,
    tag: "Billing",
    summary: own === "" ? "Get a statement" : "Get an own statement",
    description:
      "`total` is what was carried in and the sum of the lines. Whole coins of it are `payable`, the rest is `carried_out`.",
    access,
    input: { path: z.object({ id: pathId }) },
    output: z.object({ data: ShownStatementPage }),
    status: 200,
    findResource: async (context: OperationContext, { id }) =>
      await findShownStatement(context, id),
    run: async ({ db, principal }, { resource: row }) => {
      const lines = await listStatementLines(db, row.id);
      return { body: { data: showStatement(principal.role, row, lines) } };
    },
  });
}

export const getStatement: Operation = getOne(STAFF);
export const getOwnStatement: Operation = getOne(PARTNER);

const ShownEntry = shownSchema("statement_entry", {
  seq: z.int(),
  posted_at: shownTime,
  kind: z.enum(LINE_KINDS),
  conversion_id: z.string().nullable(),
  click_id: z.string().nullable(),
  adv_txid: z.string().nullable(),
  offer_id: z.int().nullable(),
  offer_name: z.string(),
  event_code: z.string().nullable(),
  conv_ts: shownTime.nullable(),
  count: z.int(),
  amount: shownMoney,
  reason: z.string(),
}).meta({ id: "StatementEntry" });

function listEntries({ path, access, own }: Readers): Operation {
  const name = `list${own}StatementEntries`;
  return operation({
    name,
    method: "GET",
    path: `${path}/{id}/lines/{line}/entries`,
    tag: "Billing",
    summary: own === "" ? "List what a line consists of" : "List what an own line consists of",
    description:
      "Every conversion, day of clicks and adjustment behind a line of a statement, newest first. Their amounts add up to the line.",
    access,
    input: {
      path: z.object({ id: pathId, line: pathId.meta({ description: "Number of the line" }) }),
      query: z.object(pageParams),
    },
    output: z.object({ data: z.array(ShownEntry), next_cursor: z.string().nullable() }),
    status: 200,
    findResource: async (context: OperationContext, { id, line }) => {
      const statement = await findShownStatement(context, id);
      const lines = await listStatementLines(context.db, statement.id);
      const found = lines.find((one) => one.line === line);
      if (found === undefined) throw notFound("line");
      return { statement, line: found };
    },
    run: async (context, { query, resource: { statement, line } }) => {
      const { role } = context.principal;
      const page = openPage(context, `${name} ${statement.id} ${line.line}`, query);
      const before = page.after === undefined ? undefined : Number(page.after.id);
      const asked = { before, rowsMax: page.rowsMax, isStaff: isStaff(role), line };
      const rows = await listStatementEntries(context.db, statement, asked);
      return {
        body: page.close(rows, {
          positionOf: (row) => ({ at: "", id: String(row.seq) }),
          show: (row) => showTo(role, "statement_entry", row),
        }),
      };
    },
  });
}

export const statementReads: readonly Operation[] = [
  listStatements,
  getStatement,
  listEntries(STAFF),
  listOwnStatements,
  getOwnStatement,
  listEntries(PARTNER),
];
