import type { Queryable } from "../postgres/connect.ts";
import type { PaymentTerms } from "./periods.ts";
import type { TaxRecord } from "./tax-of.ts";

/** What an advertiser owes in one currency. */
export type Receivable = {
  readonly id: number;
  readonly advertiser_id: number;
  readonly currency: string;
  readonly terms: PaymentTerms;
  readonly tax: TaxRecord;
  /** What the workspace prints about tax. */
  readonly tax_text: string;
};

/** Accounts with entries behind their last invoice, in the order of their ids. */
export async function listReceivables(
  db: Queryable,
  {
    workspaceId,
    advertiserId,
  }: { readonly workspaceId: number; readonly advertiserId?: number | undefined },
  { afterId, rowsMax }: { readonly afterId: number; readonly rowsMax: number },
): Promise<readonly { readonly id: number }[]> {
  const { rows } = await db.query<{ id: number }>({
    name: "list-receivables",
    text: `select c.id from ledger_account c join ledger_balance b on b.account_id = c.id
           where c.workspace_id = $1 and c.kind = 'advertiser_receivable' and c.id > $2 and ($3::integer is null or c.owner_id = $3)
             and b.last_seq > coalesce((select max(i.to_seq) from invoice i
               where i.account_id = c.id and i.kind = 'invoice' and i.status <> 'void'), 0)
           order by c.id limit $4`,
    values: [workspaceId, afterId, advertiserId ?? null, rowsMax],
  });
  return rows;
}

/**
 * Everything that changes the invoices and payments of an account holds this lock, taken before all others. Posting does not take it, so
 * conversions wait only for what is posted.
 */
export async function lockReceivable(db: Queryable, accountId: number): Promise<Receivable> {
  await db.query({
    name: "lock-receivable",
    text: "select 1 from ledger_account where id = $1 for no key update",
    values: [accountId],
  });
  const { rows } = await db.query<Receivable>({
    name: "read-receivable",
    text: `select c.id, c.owner_id as advertiser_id, c.currency, a.billing_terms as terms,
             json_build_object('mode', coalesce(t.mode, 'none'), 'rate', coalesce(t.rate, 0.0000)::text) as tax,
             coalesce(s.default_tax_text, '') as tax_text
           from ledger_account c join advertiser a on a.id = c.owner_id
           left join tax_record t on t.advertiser_id = a.id
           left join billing_settings s on s.workspace_id = c.workspace_id
           where c.id = $1 and c.kind = 'advertiser_receivable'`,
    values: [accountId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error(`no account ${accountId} of an advertiser`);
  return row;
}

/** The account of an advertiser in a currency, made if nothing was posted yet. */
export async function receivableOf(
  db: Queryable,
  workspaceId: number,
  { advertiserId, currency }: { readonly advertiserId: number; readonly currency: string },
): Promise<number> {
  const find = async (): Promise<number | undefined> => {
    const { rows } = await db.query<{ id: number }>({
      name: "find-receivable",
      text: `select id from ledger_account
             where workspace_id = $1 and kind = 'advertiser_receivable' and owner_id = $2 and currency = $3`,
      values: [workspaceId, advertiserId, currency],
    });
    return rows[0]?.id;
  };
  const known = await find();
  if (known !== undefined) return known;
  await db.query({
    name: "make-receivable",
    text: `insert into ledger_account (workspace_id, kind, owner_id, currency) values ($1, 'advertiser_receivable', $2, $3)
           on conflict do nothing`,
    values: [workspaceId, advertiserId, currency],
  });
  const made = await find();
  if (made === undefined) throw new Error("the account of an advertiser is gone");
  return made;
}
