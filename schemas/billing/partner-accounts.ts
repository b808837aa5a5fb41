import { type Amount, amountOf } from "../money/amount.ts";
import type { Queryable } from "../postgres/connect.ts";
import type { PaymentTerms, TermsHistory } from "./periods.ts";
import { SETTLING_KINDS } from "./post-ledger.ts";
import type { TaxRecord } from "./tax-of.ts";

/** An account of a partner, as far as its next statement depends on it. */
export type PartnerAccount = {
  readonly accountId: number;
  readonly affiliateId: number;
  readonly currency: string;
  readonly terms: TermsHistory;
  /** As the partner's record has it. */
  readonly minPayout: { readonly amount: Amount; readonly currency: string };
  readonly tax: TaxRecord;
  /** Of the newest statement that is not void. */
  readonly last: ChainEnd | undefined;
  /** When the first entry behind that statement was posted that is on statements; undefined if there is none. */
  readonly nextAtMs: number | undefined;
};

/** Where a chain of statements ends, and the next one begins. */
export type ChainEnd = {
  readonly toSeq: number;
  readonly carriedOut: Amount;
  readonly periodToMs: number;
};

type Row = {
  readonly account_id: number;
  readonly affiliate_id: number;
  readonly currency: string;
  readonly terms: PaymentTerms;
  readonly min_payout: string;
  readonly min_currency: string;
  readonly tax_mode: TaxRecord["mode"];
  readonly tax_rate: string;
  readonly to_seq: number | null;
  readonly carried_out: string | null;
  readonly period_to: string | null;
  readonly next_at: string | null;
  readonly changes: readonly { readonly at: string; readonly before: PaymentTerms }[];
};

/** Accounts of partners in the order of their numbers; of one partner, or one account alone, where these are named. */
export async function readPartnerAccounts(
  db: Queryable,
  workspaceId: number,
  page: {
    readonly afterId: number;
    readonly rowsMax: number;
    readonly affiliateId?: number | undefined;
    readonly accountId?: number;
  },
): Promise<PartnerAccount[]> {
  const { rows } = await db.query<Row>({
    name: "read-partner-accounts",
    text: `select a.id as account_id, f.id as affiliate_id, a.currency, f.payment_terms as terms, f.min_payout,
             f.currency as min_currency, coalesce(x.mode, 'none') as tax_mode, coalesce(x.rate, 0) as tax_rate,
             last.to_seq, last.carried_out, last.period_to, next.posted_at as next_at,
             (select coalesce(jsonb_agg(jsonb_build_object('at', iso_time(c.at), 'before', c.terms_before) order by c.at), '[]')
              from payment_terms_change c where c.affiliate_id = f.id
                and c.at > coalesce(last.period_to, next.posted_at - interval '1 year')) as changes
           from ledger_account a
           join affiliate f on f.id = a.owner_id
           left join tax_record x on x.affiliate_id = f.id
           left join lateral (
             select s.to_seq, s.carried_out, s.period_to from statement s
             where s.account_id = a.id and s.status <> 'void' order by s.to_seq desc, s.period_to desc limit 1) last on true
           left join lateral (
             select e.posted_at from ledger_entry e
             where e.account_id = a.id and e.seq > coalesce(last.to_seq, 0) and e.kind <> all($6::text[])
             order by e.seq limit 1) next on true
           where a.workspace_id = $1 and a.kind = 'partner_payable' and a.id > $2
             and ($4::integer is null or a.owner_id = $4) and ($5::bigint is null or a.id = $5)
           order by a.id limit $3`,
    values: [
      workspaceId,
      page.afterId,
      page.rowsMax,
      page.affiliateId,
      page.accountId,
      SETTLING_KINDS,
    ],
  });
  return rows.map(accountOf);
}

/** Locks the balance of an account: nobody posts to it, and nobody else closes it, until the transaction ends. */
export async function lockBalance(tx: Queryable, accountId: number): Promise<void> {
  await tx.query({
    name: "lock-balance-of-account",
    text: "select last_seq from ledger_balance where account_id = $1 for update",
    values: [accountId],
  });
}

function accountOf(row: Row): PartnerAccount {
  return {
    accountId: row.account_id,
    affiliateId: row.affiliate_id,
    currency: row.currency,
    terms: {
      now: row.terms,
      changes: row.changes.map(({ at, before }) => ({ atMs: Date.parse(at), before })),
    },
    minPayout: { amount: amountOf(row.min_payout), currency: row.min_currency },
    tax: { mode: row.tax_mode, rate: row.tax_rate },
    last:
      row.to_seq === null || row.carried_out === null || row.period_to === null
        ? undefined
        : {
            toSeq: row.to_seq,
            carriedOut: amountOf(row.carried_out),
            periodToMs: Date.parse(row.period_to),
          },
    nextAtMs: row.next_at === null ? undefined : Date.parse(row.next_at),
  };
}
