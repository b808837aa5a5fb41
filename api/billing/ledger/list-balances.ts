import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { unrestrictedStaff } from "../../access/access-of-operations.ts";
import { shownSchema, showTo, visibleFields } from "../../access/visibility.ts";
import { shownCurrency, shownMoney } from "../../fields/body-fields.ts";
import { csvAnswer, listCsv } from "../../http/list-csv.ts";
import { openPage } from "../../http/page.ts";
import {
  bomParam,
  currencyParam,
  idParam,
  listFormatParam,
  pageParams,
  wordParam,
} from "../../http/query-fields.ts";
import type { Position } from "../../operation/cursor.ts";
import { invalidParameter } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import {
  type AskedBalances,
  type BalanceRow,
  listAdvertiserBalances,
  listPartnerBalances,
} from "./balances.ts";

const KINDS = ["affiliate", "advertiser"] as const;

const AMOUNTS = {
  pending: shownMoney,
  balance: shownMoney,
  unbilled: shownMoney,
  carried: shownMoney,
  draft: shownMoney,
  approved_unpaid: shownMoney.nullable(),
  in_payout: shownMoney.nullable(),
  invoiced_open: shownMoney.nullable(),
  unallocated: shownMoney.nullable(),
  paid_total: shownMoney,
};
const MONEY: ReadonlySet<string> = new Set(Object.keys(AMOUNTS));

const ShownBalance = shownSchema("balance", {
  id: z.string().meta({ examples: ["7.EUR"] }),
  kind: z.enum(KINDS),
  owner_id: z.int(),
  owner_name: z.string(),
  currency: shownCurrency,
  ...AMOUNTS,
}).meta({ id: "Balance" });

export const listBalances: Operation = operation({
  name: "listBalances",
  method: "GET",
  path: "/balances",
  tag: "Billing",
  summary: "List balances",
  description:
    "Where each partner or advertiser stands in each currency, by id and currency. For a partner, `balance` is what the network owes it; for an " +
    "advertiser, what it owes the network. `balance` = `unbilled` + `carried` + `draft` + `approved_unpaid` + `in_payout` for a partner, and " +
    "`unbilled` + `carried` + `draft` + `invoiced_open` − `unallocated` for an advertiser. `pending` is not in it.",
  access: unrestrictedStaff,
  input: {
    query: z.object({
      ...pageParams,
      kind: wordParam(...KINDS).meta({ description: "Whose balances; `affiliate` by default" }),
      owner_id: idParam.meta({ description: "The partner or the advertiser" }),
      currency: currencyParam,
      format: listFormatParam,
      bom: bomParam,
    }),
  },
  output: z.object({ data: z.array(ShownBalance), next_cursor: z.string().nullable() }),
  status: 200,
  otherMediaTypes: ["text/csv"],
  run: async (context, { query }) => {
    const { db, workspace, principal } = context;
    const { kind = "affiliate" } = query;
    const page = openPage(context, "listBalances", query);
    const read = async (at: Pick<AskedBalances, "after" | "rowsMax">): Promise<BalanceRow[]> =>
      await READ[kind](db, workspace.id, {
        ownerId: query.owner_id,
        currency: query.currency,
        ...at,
      });
    const show = (row: BalanceRow): Record<string, unknown> =>
      showTo(principal.role, "balance", { ...row, kind, id: `${row.owner_id}.${row.currency}` });
    if (query.format === "csv") {
      if (query.cursor !== undefined) throw invalidParameter("cursor", "a CSV has no pages");
      const pieces = listCsv<BalanceRow>({
        fields: visibleFields("balance", principal.role),
        numbers: MONEY,
        read: async (row, rowsMax) => await read({ after: row && placeOf(row), rowsMax }),
        show: (rows) => rows.map(show),
      });
      return await csvAnswer(pieces, { name: "balances.csv", bom: query.bom });
    }
    return { body: page.close(await read(page), { positionOf: placeOf, show }) };
  },
});

const READ = {
  affiliate: listPartnerBalances,
  advertiser: listAdvertiserBalances,
} satisfies Record<
  (typeof KINDS)[number],
  (db: Queryable, workspaceId: number, asked: AskedBalances) => Promise<BalanceRow[]>
>;

function placeOf({ owner_id: ownerId, currency }: BalanceRow): Position {
  return { at: String(ownerId), id: currency };
}
