import { z } from "zod";
import { unrestrictedStaff } from "../../access/access-of-operations.ts";
import { shownSchema, showTo, visibleFields } from "../../access/visibility.ts";
import { shownCurrency, shownMoney, shownTime } from "../../fields/body-fields.ts";
import { csvAnswer, listCsv } from "../../http/list-csv.ts";
import { openPage } from "../../http/page.ts";
import {
  bomParam,
  currencyParam,
  dayParam,
  idParam,
  listFormatParam,
  pageParams,
  uuidParam,
  wordParam,
} from "../../http/query-fields.ts";
import { invalidParameter } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { dayBounds } from "./day-bounds.ts";
import { type AskedEntries, type EntryRow, listEntries, placeOf } from "./ledger-entries.ts";

const ACCOUNTS = [
  "partner_payable",
  "advertiser_receivable",
  "revenue",
  "payout_cost",
  "adjustment_cost",
  "clearing",
  "tax_in",
  "tax_out",
] as const;
const MONEY: ReadonlySet<string> = new Set(["amount"]);

const ShownEntry = shownSchema("ledger_entry", {
  id: z.string().meta({ examples: ["12.7"] }),
  account: z.enum(ACCOUNTS),
  owner_id: z.int(),
  owner_name: z.string().nullable(),
  currency: shownCurrency,
  seq: z.int(),
  amount: shownMoney,
  posted_at: shownTime,
  kind: z.string(),
  transaction_id: z.int(),
  source_kind: z.string(),
  source_id: z.string(),
  description: z.string(),
  reverses_id: z.int().nullable(),
  key_id: z.int().nullable(),
  person_id: z.int().nullable(),
  conversion_id: z.string().nullable(),
  offer_id: z.int().nullable(),
  event_code: z.string().nullable(),
  count: z.int(),
}).meta({ id: "LedgerEntry" });

export const listLedger: Operation = operation({
  name: "listLedger",
  method: "GET",
  path: "/ledger",
  tag: "Billing",
  summary: "List entries of the ledger",
  description:
    "Newest first, each with its transaction. The entries of a transaction add up to 0 in each currency. Debits are positive: what a partner is owed is " +
    "the negative sum of its `partner_payable` entries, what an advertiser owes is the sum of its `advertiser_receivable` entries.",
  access: unrestrictedStaff,
  input: {
    query: z.object({
      ...pageParams,
      account: wordParam(...ACCOUNTS).meta({ description: "Kind of the account" }),
      owner: idParam.meta({
        description: "The partner or the advertiser, with the `account` that it owns",
      }),
      currency: currencyParam,
      conversion_id: uuidParam,
      from: dayParam.meta({ description: "First day, in the time zone of the workspace" }),
      to: dayParam.meta({ description: "Last day" }),
      format: listFormatParam,
      bom: bomParam,
    }),
  },
  output: z.object({ data: z.array(ShownEntry), next_cursor: z.string().nullable() }),
  status: 200,
  otherMediaTypes: ["text/csv"],
  run: async (context, { query }) => {
    const { db, workspace, principal } = context;
    const page = openPage(context, "listLedger", query);
    const asked = {
      account: query.account,
      owner: query.owner,
      currency: query.currency,
      conversionId: query.conversion_id,
      ...dayBoundsOf(workspace.timezone, query),
    };
    const read = async (at: Pick<AskedEntries, "after" | "rowsMax">): Promise<EntryRow[]> =>
      await listEntries(db, workspace.id, { ...asked, ...at });
    const show = (row: EntryRow): Record<string, unknown> =>
      showTo(principal.role, "ledger_entry", { ...row, id: `${row.account_id}.${row.seq}` });
    if (query.format === "csv") {
      if (query.cursor !== undefined) throw invalidParameter("cursor", "a CSV has no pages");
      const pieces = listCsv<EntryRow>({
        fields: visibleFields("ledger_entry", principal.role),
        numbers: MONEY,
        read: async (row, rowsMax) => await read({ after: row && placeOf(row), rowsMax }),
        show: (rows) => rows.map(show),
      });
      return await csvAnswer(pieces, { name: "ledger.csv", bom: query.bom });
    }
    return { body: page.close(await read(page), { positionOf: placeOf, show }) };
  },
});

function dayBoundsOf(
  timezone: string,
  query: { readonly from?: string | undefined; readonly to?: string | undefined },
): { readonly from: string | undefined; readonly to: string | undefined } {
  const { from, to } = dayBounds(timezone, query);
  return { from, to };
}
