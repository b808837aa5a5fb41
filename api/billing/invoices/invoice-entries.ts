import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { OpenPage } from "../../http/page.ts";

/** A line with the range of its invoice. */
type Line = {
  readonly account_id: number;
  readonly from_seq: number;
  readonly to_seq: number;
  readonly kind: string;
  readonly offer_id: number | null;
  readonly event_code: string | null;
};

export type EntryRow = {
  readonly seq: number;
  readonly posted_at: string;
  readonly [column: string]: unknown;
};

export async function findLine(
  db: Queryable,
  workspaceId: number,
  { invoiceId, line }: { readonly invoiceId: number; readonly line: number },
): Promise<Line | undefined> {
  const { rows } = await db.query<Line>({
    name: "find-invoice-line",
    text: `select i.account_id, i.from_seq, i.to_seq, l.kind, l.offer_id, l.event_code
           from invoice i join invoice_line l on l.invoice_id = i.id
           where i.workspace_id = $1 and i.id = $2 and l.line = $3`,
    values: [workspaceId, invoiceId, line],
  });
  return rows[0];
}

/**
 * The entries that a line adds up, newest first, by the rule that made the line (schemas/billing/close-receivable.ts). `coalesce` keeps Postgres
 * from taking the conditions for rare ones, for which it would read the whole table.
 */
export async function listEntries(
  db: Queryable,
  line: Line,
  { after, rowsMax }: Pick<OpenPage, "after" | "rowsMax">,
): Promise<EntryRow[]> {
  const { rows } = await db.query<EntryRow>({
    name: "list-invoice-entries",
    text: `select e.seq, e.posted_at, e.conversion_id, c.adv_txid, c.conv_ts, e.offer_id, e.event_code, e.count, e.amount
           from ledger_entry e
           left join conversion c on c.id = e.conversion_id
           left join ledger_transaction t on t.id = e.transaction_id and e.kind = 'adjustment' and t.source_kind = 'adjustment'
             and t.source_id ~ '^[0-9]{1,18}$'
           left join adjustment j on j.id = t.source_id::bigint
           where e.account_id = $1 and e.seq > $2 and e.seq <= $3 and e.seq < $4
             and e.kind not in ('invoice_tax', 'payment', 'credit_note')
             and e.offer_id is not distinct from $5
             and coalesce(case e.kind when 'conversion' then case when e.amount < 0 then 'reversal' else 'conversions' end
               when 'clicks' then 'clicks' when 'write_off' then 'write_off' else coalesce(j.kind, 'correction') end = $6, false)
             and coalesce(case when e.kind = 'conversion' then e.event_code end is not distinct from $7, false)
           order by e.seq desc limit $8`,
    values: [
      line.account_id,
      line.from_seq,
      line.to_seq,
      after?.id ?? String(Number.MAX_SAFE_INTEGER),
      line.offer_id,
      line.kind,
      line.event_code,
      rowsMax,
    ],
  });
  return rows;
}
