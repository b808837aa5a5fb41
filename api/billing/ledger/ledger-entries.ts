import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { statementName } from "../../http/statement-name.ts";
import type { Position } from "../../operation/cursor.ts";

export type EntryRow = {
  readonly account_id: number;
  readonly seq: number;
  readonly transaction_id: number;
  readonly posted_at: string;
  readonly [column: string]: unknown;
};

export type AskedEntries = {
  readonly account: string | undefined;
  readonly owner: number | undefined;
  readonly currency: string | undefined;
  readonly conversionId: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly after: Position | undefined;
  readonly rowsMax: number;
};

const COLUMNS = `a.kind as account, a.owner_id, coalesce(f.name, v.name) as owner_name, a.currency, e.account_id, e.seq, e.amount, e.posted_at,
  e.kind, e.transaction_id, t.source_kind, t.source_id, t.description, t.reverses_id, t.key_id, t.person_id, e.conversion_id, e.offer_id,
  e.event_code, e.count`;
const NAMES = `left join affiliate f on a.kind = 'partner_payable' and f.id = a.owner_id
  left join advertiser v on a.kind = 'advertiser_receivable' and v.id = a.owner_id`;
const ORDER = "e.posted_at desc, e.transaction_id desc, e.account_id desc, e.seq desc";
/**
 * $2 to $5 are the position of the page, $6 and $7 the time. In an account, time and number of the transaction rise with `seq`, so every
 * statement below reads its index backwards.
 */
const IN_PAGE = `e.posted_at <= $2::timestamptz
  and (e.posted_at, e.transaction_id, e.account_id, e.seq) < ($2::timestamptz, $3::bigint, $4::bigint, $5::bigint)
  and e.posted_at >= coalesce($6::timestamptz, '-infinity') and e.posted_at < coalesce($7::timestamptz, 'infinity')`;
/** $8 to $10 say which accounts. */
const OF_ACCOUNTS = `a.workspace_id = $1 and ($8::text is null or a.kind = $8) and ($9::integer is null or a.owner_id = $9)
  and ($10::text is null or a.currency = $10)`;
const NUMBER_MAX = "9223372036854775807";

/** Entries with their transactions, newest first. */
export async function listEntries(
  db: Queryable,
  workspaceId: number,
  asked: AskedEntries,
): Promise<EntryRow[]> {
  const { account, owner, currency, conversionId, from, to, after, rowsMax } = asked;
  const [transaction = NUMBER_MAX, accountId = NUMBER_MAX, seq = NUMBER_MAX] =
    after?.id.split(".") ?? [];
  const values = [
    workspaceId,
    after?.at ?? "infinity",
    transaction,
    accountId,
    seq,
    from,
    to,
    account,
    owner,
    currency,
    rowsMax,
  ];
  const { name, text } = statementFor(asked);
  const { rows } = await db.query<EntryRow>({
    ...statementName(name, { account, owner, currency, conversionId, from, to }),
    text,
    values: conversionId === undefined ? values : [...values, conversionId],
  });
  return rows;
}

function statementFor({ account, owner, conversionId }: AskedEntries): typeof OF_WORKSPACE {
  if (conversionId !== undefined) return OF_CONVERSION;
  return owner === undefined && !isOfNetwork(account) ? OF_WORKSPACE : OF_OWNER;
}

export function placeOf(row: EntryRow): Position {
  return { at: row.posted_at, id: `${row.transaction_id}.${row.account_id}.${row.seq}` };
}

/** Such accounts are few: one for each currency. */
function isOfNetwork(account: string | undefined): boolean {
  return (
    account !== undefined && account !== "partner_payable" && account !== "advertiser_receivable"
  );
}

const OF_CONVERSION = {
  name: "list-entries-of-conversion",
  text: `select ${COLUMNS} from ledger_entry e join ledger_account a on a.id = e.account_id
           join ledger_transaction t on t.id = e.transaction_id ${NAMES}
         where e.conversion_id = $12::uuid and ${OF_ACCOUNTS} and ${IN_PAGE} order by ${ORDER} limit $11`,
};

const OF_OWNER = {
  name: "list-entries-of-owner",
  text: `select ${COLUMNS} from ledger_account a
         cross join lateral (
           select e.account_id, e.seq, e.transaction_id, e.amount, e.posted_at, e.kind, e.conversion_id, e.offer_id, e.event_code, e.count
           from ledger_entry e where e.account_id = a.id and ${IN_PAGE}
           order by e.posted_at desc, e.seq desc limit $11) e
         join ledger_transaction t on t.id = e.transaction_id ${NAMES}
         where ${OF_ACCOUNTS} order by ${ORDER} limit $11`,
};

/** Each transaction has two entries or more, so a page reads no more transactions than it has rows. */
const OF_WORKSPACE = {
  name: "list-entries",
  text: `select ${COLUMNS} from ledger_transaction t join ledger_entry e on e.transaction_id = t.id
           join ledger_account a on a.id = e.account_id ${NAMES}
         where t.workspace_id = $1 and t.posted_at <= $2::timestamptz and t.posted_at >= coalesce($6::timestamptz, '-infinity')
           and t.posted_at < coalesce($7::timestamptz, 'infinity') and ${OF_ACCOUNTS} and ${IN_PAGE}
         order by t.posted_at desc, t.id desc, e.account_id desc, e.seq desc limit $11`,
};
