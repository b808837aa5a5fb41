import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { conditionsOf } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";

export type PaymentRow = {
  readonly id: number;
  readonly advertiser_id: number;
  readonly advertiser_name: string;
  readonly currency: string;
  readonly amount: string;
  readonly applied: string;
  readonly unapplied: string;
  readonly external_id: string;
  readonly received_at: string;
  readonly note: string;
  readonly invoice_ids: readonly number[];
  readonly reversed_at: string | null;
  readonly reversal_reason: string | null;
  readonly created_at: string;
  readonly allocations: readonly {
    readonly invoice_id: number;
    readonly number: string;
    readonly amount: string;
  }[];
};

const COLUMNS = `p.id, p.advertiser_id, a.name as advertiser_name, p.currency, p.amount, c.applied,
  case when r.payment_id is null then p.amount - c.applied else 0.0000 end as unapplied, p.external_id, p.received_at, p.note,
  to_json(p.invoice_ids) as invoice_ids, r.created_at as reversed_at, r.reason as reversal_reason, p.created_at, c.allocations`;
const TABLES = `advertiser_payment p join advertiser a on a.id = p.advertiser_id
  left join advertiser_payment_reversal r on r.payment_id = p.id
  cross join lateral (
    select coalesce(sum(l.amount), 0.0000) as applied,
      coalesce(json_agg(json_build_object('invoice_id', l.invoice_id, 'number', i.number, 'amount', l.amount::text)
        order by l.invoice_id), '[]'::json) as allocations
    from (select invoice_id, sum(amount) as amount from payment_allocation where payment_id = p.id
      group by invoice_id having sum(amount) <> 0) l
    join invoice i on i.id = l.invoice_id) c`;

/** Newest first, at most `rowsMax`. */
export async function listPaymentRows(
  db: Queryable,
  workspaceId: number,
  { after, rowsMax, filters }: FilteredPage,
): Promise<PaymentRow[]> {
  const conditions = conditionsOf(filters, {}, "p");
  const { rows } = await db.query<PaymentRow>({
    ...statementName("list-payments", filters),
    text: `select ${COLUMNS} from ${TABLES}
           where p.workspace_id = $1 and (p.created_at, p.id) < ($2::timestamptz, $3::bigint) ${quoteConditions(conditions, 5)}
           order by p.created_at desc, p.id desc limit $4`,
    values: [
      workspaceId,
      after?.at ?? "infinity",
      after?.id ?? "0",
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

export async function readPayment(
  db: Queryable,
  workspaceId: number,
  id: number,
): Promise<PaymentRow | undefined> {
  const { rows } = await db.query<PaymentRow>({
    name: "read-payment",
    text: `select ${COLUMNS} from ${TABLES} where p.workspace_id = $1 and p.id = $2`,
    values: [workspaceId, id],
  });
  return rows[0];
}
