import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { unavailable } from "../../../operation/errors.ts";
import type { SealedBox } from "../../../operation/sealed-box.ts";
import { detailsOfTexts, PaymentDetails, type PaymentMethod } from "./payment-details.ts";

/** How a partner is paid, and what else decides whether it is. */
export type PaymentRow = {
  readonly affiliate_id: number;
  readonly affiliate_code: string;
  readonly affiliate_name: string;
  readonly status: string;
  readonly method: PaymentMethod;
  /** The texts of the contract. */
  readonly texts: Readonly<Record<string, string>>;
  /** Null unless the details were entered for this method. */
  readonly sealed: Buffer | null;
  readonly masked: Readonly<Record<string, string>> | null;
  readonly tax_country: string;
  readonly vat_id: string;
  readonly tax_mode: string;
  readonly tax_rate: string;
  readonly changed_at: string | null;
};

/**
 * Of these partners, by id. Locked until the end of the transaction with `lock`: a change of details waits, so that what is frozen is what
 * was judged.
 */
export async function readPaymentRows(
  db: Queryable,
  workspaceId: number,
  { ids, lock = false }: { readonly ids: readonly number[]; readonly lock?: boolean },
): Promise<ReadonlyMap<number, PaymentRow>> {
  if (lock)
    await db.query({
      name: "lock-payment-rows",
      text: "select from affiliate where workspace_id = $1 and id = any($2::integer[]) order by id for share",
      values: [workspaceId, ids],
    });
  const { rows } = await db.query<PaymentRow>({
    name: "read-payment-rows",
    text: `select f.id as affiliate_id, f.code as affiliate_code, f.name as affiliate_name, f.status, f.payment_method as method,
             f.payment_details as texts, a.sealed, a.masked, coalesce(t.country, '') as tax_country, coalesce(t.vat_id, '') as vat_id,
             coalesce(t.mode, 'none') as tax_mode, coalesce(t.rate, 0)::text as tax_rate, c.at as changed_at
           from affiliate f left join payment_account a on a.affiliate_id = f.id and a.method = f.payment_method
           left join tax_record t on t.affiliate_id = f.id
           left join lateral (select at from payment_method_change where affiliate_id = f.id order by at desc limit 1) c on true
           where f.workspace_id = $1 and f.id = any($2::integer[])`,
    values: [workspaceId, ids],
  });
  return new Map(rows.map((row) => [row.affiliate_id, row]));
}

/** Of one partner. */
export async function readPaymentRow(
  db: Queryable,
  workspaceId: number,
  affiliateId: number,
): Promise<PaymentRow> {
  const row = (await readPaymentRows(db, workspaceId, { ids: [affiliateId] })).get(affiliateId);
  if (row === undefined) throw new Error("the partner was found before");
  return row;
}

export async function savePaymentAccount(
  db: Queryable,
  account: {
    readonly workspaceId: number;
    readonly affiliateId: number;
    readonly method: PaymentMethod;
    readonly sealed: Buffer;
    readonly masked: Readonly<Record<string, string>>;
  },
): Promise<void> {
  await db.query({
    name: "save-payment-account",
    text: `insert into payment_account (workspace_id, affiliate_id, method, sealed, masked) values ($1, $2, $3, $4, $5)
           on conflict (affiliate_id) do update set method = excluded.method, sealed = excluded.sealed, masked = excluded.masked,
             updated_at = clock_timestamp()`,
    values: [
      account.workspaceId,
      account.affiliateId,
      account.method,
      account.sealed,
      JSON.stringify(account.masked),
    ],
  });
}

/** How a partner's details are sealed: they open only as this partner's. */
export function accountOwner(affiliateId: number): string {
  return `payment_account/sealed/${affiliateId}`;
}

/** How the details of an approved line are sealed. */
export function lineOwner(lineId: number): string {
  return `payout_line/details/${lineId}`;
}

/** The details to pay a partner by; undefined if there are none, or if they cannot be opened any more. @throws {ApiError} `unavailable` */
export function detailsOf(
  box: SealedBox | undefined,
  { affiliate_id: id, method, sealed, texts }: PaymentRow,
): PaymentDetails | undefined {
  if (sealed === null) return detailsOfTexts(method, texts);
  return openDetails(box, sealed, accountOwner(id));
}

/** @throws {ApiError} `unavailable` without CONSOLE_SECRET. */
export function openDetails(
  box: SealedBox | undefined,
  sealed: Buffer,
  owner: string,
): PaymentDetails | undefined {
  const plain = needBox(box).open(sealed, owner);
  return plain === undefined ? undefined : PaymentDetails.parse(JSON.parse(plain.toString()));
}

export function sealDetails(
  box: SealedBox | undefined,
  details: PaymentDetails,
  owner: string,
): Buffer {
  return needBox(box).seal(Buffer.from(JSON.stringify(details)), owner);
}

function needBox(box: SealedBox | undefined): SealedBox {
  if (box === undefined) throw unavailable("CONSOLE_SECRET, which seals payment details,");
  return box;
}
