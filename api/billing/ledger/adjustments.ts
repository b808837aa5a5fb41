import { readBillingState } from "../../../schemas/billing/billing-state.ts";
import { type LedgerEntry, postLedger } from "../../../schemas/billing/post-ledger.ts";
import { type Amount, amountOf } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions } from "../../../schemas/postgres/quote.ts";
import { conditionsOf } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";
import { conflict } from "../../operation/errors.ts";
import type { Principal } from "../../operation/principal.ts";
import type { Days } from "./day-bounds.ts";

export type Adjustment = {
  readonly id: number;
  readonly affiliate_id: number | null;
  readonly advertiser_id: number | null;
  readonly currency: string;
  readonly amount: string;
  readonly kind: string;
  readonly reason: string;
  readonly visible: boolean;
  readonly conversion_id: string | null;
  readonly reverses_id: number | null;
  readonly reversed_by_id: number | null;
  readonly created_at: string;
};

export type AdjustmentToPost = Omit<Adjustment, "id" | "reversed_by_id" | "created_at">;

const COLUMNS = `d.id, d.affiliate_id, f.name as affiliate_name, d.advertiser_id, v.name as advertiser_name, d.currency, d.amount, d.kind,
  d.reason, d.visible, d.conversion_id, d.reverses_id, r.id as reversed_by_id, d.key_id, d.person_id, d.created_at`;
const SOURCE = `adjustment d left join affiliate f on f.id = d.affiliate_id left join advertiser v on v.id = d.advertiser_id
  left join adjustment r on r.reverses_id = d.id`;
/** $1 is the workspace; $2 and $3 are the partner and the advertiser of the caller, if any. */
const VISIBLE = `d.workspace_id = $1 and ($2::integer is null or (d.affiliate_id = $2 and d.visible))
  and ($3::integer is null or (d.advertiser_id = $3 and d.visible))`;

/** What the caller may see: accounts see visible ones of their own (N43). */
export async function findAdjustment(
  db: Queryable,
  principal: Principal,
  id: number,
): Promise<Adjustment | undefined> {
  const { rows } = await db.query<Adjustment>({
    name: "find-adjustment",
    text: `select ${COLUMNS} from ${SOURCE} where ${VISIBLE} and d.id = $4`,
    values: [...accountsOf(principal), id],
  });
  return rows[0];
}

/** Newest first, at most `rowsMax`. */
export async function listAdjustments(
  db: Queryable,
  principal: Principal,
  { after, rowsMax, filters, from, to }: FilteredPage & Days,
): Promise<Adjustment[]> {
  const account = {
    ...(principal.affiliate && { affiliate_id: principal.affiliate.id }),
    ...(principal.advertiser && { advertiser_id: principal.advertiser.id }),
  };
  const conditions = conditionsOf({ ...filters, ...account }, {}, "d");
  const { rows } = await db.query<Adjustment>({
    ...statementName("list-adjustments", { from, to, ...filters, ...account }),
    text: `select ${COLUMNS} from ${SOURCE}
           where ${VISIBLE} and (d.created_at, d.id) < ($4::timestamptz, $5::bigint)
             and d.created_at >= coalesce($7::timestamptz, '-infinity') and d.created_at < coalesce($8::timestamptz, 'infinity')
             ${quoteConditions(conditions, 9)}
           order by d.created_at desc, d.id desc limit $6`,
    values: [
      ...accountsOf(principal),
      after?.at ?? "infinity",
      after?.id ?? "0",
      rowsMax,
      from,
      to,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

/** Whether the account of an adjustment has this conversion. */
export async function hasConversion(
  db: Queryable,
  workspaceId: number,
  { conversion_id: id, affiliate_id: affiliateId, advertiser_id: advertiserId }: AdjustmentToPost,
): Promise<boolean> {
  const { rows } = await db.query({
    name: "find-conversion-of-account",
    text: `select from conversion where id = $1 and workspace_id = $2 and (affiliate_id = $3 or advertiser_id = $4)`,
    values: [id, workspaceId, affiliateId, advertiserId],
  });
  return rows.length > 0;
}

type Author = { readonly keyId: number | undefined; readonly personId: number | undefined };

/**
 * Stores an adjustment and posts it, in the transaction of `db`. Answers its id.
 * @throws {ApiError} `conflict` if billing is off, if the adjustment was reversed before, or if a write-off goes beyond the debt.
 */
export async function postAdjustment(
  db: Queryable,
  workspaceId: number,
  { adjustment, author }: { readonly adjustment: AdjustmentToPost; readonly author: Author },
): Promise<number> {
  const state = await readBillingState(db, workspaceId);
  if (state?.enabled !== true) throw conflict("enabled", "billing is off in this workspace");
  const id = await insertAdjustment(db, workspaceId, { adjustment, author });
  if (id === undefined) throw conflict("id", "this adjustment was reversed before");
  const isWriteOff = adjustment.kind === "write_off" && adjustment.reverses_id === null;
  await postLedger(db, workspaceId, [
    {
      kind: isWriteOff ? "write_off" : "adjustment",
      sourceKind: "adjustment",
      sourceId: String(id),
      description: adjustment.kind,
      reversesId: await transactionOf(db, workspaceId, adjustment.reverses_id),
      ...author,
      entries: entriesOf(adjustment),
    },
  ]);
  // The posting has locked the account, so nobody moves its balance before this transaction ends.
  if (isWriteOff && (await owedTo(db, workspaceId, adjustment)) > 0n)
    throw conflict("amount", "more than what the partner owes, so the balance would rise above 0");
  return id;
}

/** As the account feels it: a positive amount means that the partner gets more, or that the advertiser owes more. */
function entriesOf(adjustment: AdjustmentToPost): readonly LedgerEntry[] {
  const { affiliate_id: affiliateId, advertiser_id: advertiserId, currency } = adjustment;
  const amount = amountOf(adjustment.amount);
  const cost = { account: "adjustment_cost", ownerId: 0, currency } as const;
  if (affiliateId !== null)
    return [
      { ...cost, amount },
      { account: "partner_payable", ownerId: affiliateId, currency, amount: -amount },
    ];
  return [
    {
      account: "advertiser_receivable",
      ownerId: advertiserId ?? 0,
      currency,
      amount,
    },
    { ...cost, amount: -amount },
  ];
}

/** Undefined if the adjustment that it reverses has been reversed. */
async function insertAdjustment(
  db: Queryable,
  workspaceId: number,
  { adjustment, author }: { readonly adjustment: AdjustmentToPost; readonly author: Author },
): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>({
    name: "insert-adjustment",
    text: `insert into adjustment (workspace_id, affiliate_id, advertiser_id, currency, amount, kind, reason, visible, conversion_id,
             reverses_id, key_id, person_id)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
           on conflict (reverses_id) do nothing returning id`,
    values: [
      workspaceId,
      adjustment.affiliate_id,
      adjustment.advertiser_id,
      adjustment.currency,
      adjustment.amount,
      adjustment.kind,
      adjustment.reason,
      adjustment.visible,
      adjustment.conversion_id,
      adjustment.reverses_id,
      author.keyId,
      author.personId,
    ],
  });
  return rows[0]?.id;
}

async function transactionOf(
  db: Queryable,
  workspaceId: number,
  adjustmentId: number | null,
): Promise<number | undefined> {
  if (adjustmentId === null) return undefined;
  const { rows } = await db.query<{ id: number }>({
    name: "find-transaction-of-adjustment",
    text: "select id from ledger_transaction where workspace_id = $1 and source_kind = 'adjustment' and source_id = $2",
    values: [workspaceId, String(adjustmentId)],
  });
  return rows[0]?.id;
}

/** What a partner is owed; negative if the partner owes. */
async function owedTo(
  db: Queryable,
  workspaceId: number,
  { affiliate_id: affiliateId, currency }: AdjustmentToPost,
): Promise<Amount> {
  const { rows } = await db.query<{ owed: string }>({
    name: "find-owed",
    text: `select -b.balance as owed from ledger_account a join ledger_balance b on b.account_id = a.id
           where a.workspace_id = $1 and a.kind = 'partner_payable' and a.owner_id = $2 and a.currency = $3`,
    values: [workspaceId, affiliateId, currency],
  });
  return amountOf(rows[0]?.owed ?? "0");
}

function accountsOf({ workspace, affiliate, advertiser }: Principal): unknown[] {
  return [workspace.id, affiliate?.id, advertiser?.id];
}
