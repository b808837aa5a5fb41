import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { purposeOf } from "../../../../schemas/secrets/sealed-columns.ts";
import type { SecretKeys } from "../../../../schemas/secrets/secret-keys.ts";
import { openTexts } from "../../../catalog/affiliates/sealed-details.ts";
import {
  detailsOfTexts,
  maskDetails,
  PaymentDetails,
  type PaymentMethod,
} from "./payment-details.ts";

/** How a partner is paid, and what else decides whether it is. */
export type PaymentRow = {
  readonly affiliate_id: number;
  readonly affiliate_code: string;
  readonly affiliate_name: string;
  readonly affiliate_email: string;
  readonly status: string;
  readonly method: PaymentMethod;
  /** The texts of the contract, sealed; null if there are none. */
  readonly sealed_texts: Buffer | null;
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
    text: `select f.id as affiliate_id, f.code as affiliate_code, f.name as affiliate_name, f.email as affiliate_email, f.status,
             f.payment_method as method, f.payment_details as sealed_texts, a.sealed, a.masked, coalesce(t.country, '') as tax_country,
             coalesce(t.vat_id, '') as vat_id,
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
  keys: SecretKeys,
  account: {
    readonly workspaceId: number;
    readonly affiliateId: number;
    readonly method: PaymentMethod;
    readonly details: PaymentDetails;
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
      sealDetails(keys, account.details, accountPurpose(account.affiliateId)),
      JSON.stringify(account.masked),
    ],
  });
}

/** How a partner's details are sealed: they open only as this partner's. */
function accountPurpose(affiliateId: number): string {
  return purposeOf("payment_account", affiliateId);
}

/** How the details of an approved line are sealed. */
export function linePurpose(lineId: number): string {
  return purposeOf("payout_line", lineId);
}

/** Details that no key of the ring opens. */
export const UNOPENED = "unopened";

/** The details to pay a partner by; undefined if there are none. */
export function detailsOf(
  keys: SecretKeys,
  { affiliate_id: id, method, sealed, sealed_texts: texts }: PaymentRow,
): PaymentDetails | typeof UNOPENED | undefined {
  if (sealed !== null) return openDetails(keys, sealed, accountPurpose(id));
  const opened = openTexts(keys, id, texts);
  return opened === undefined ? UNOPENED : detailsOfTexts(method, opened);
}

/** As answers show them. */
export function maskOf(
  details: PaymentDetails | typeof UNOPENED | undefined,
): Record<string, string> {
  return details === undefined || details === UNOPENED ? {} : maskDetails(details);
}

export function openDetails(
  keys: SecretKeys,
  sealed: Buffer,
  purpose: string,
): PaymentDetails | typeof UNOPENED {
  const plain = keys.openBytes(purpose, sealed);
  return plain === undefined ? UNOPENED : PaymentDetails.parse(JSON.parse(plain.toString()));
}

/** @throws {SecretKeyError} without any key. */
export function sealDetails(keys: SecretKeys, details: PaymentDetails, purpose: string): Buffer {
  return keys.sealBytes(purpose, Buffer.from(JSON.stringify(details)));
}
