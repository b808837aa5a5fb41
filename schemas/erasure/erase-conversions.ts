import type { Queryable } from "../postgres/connect.ts";
import { AD_IDS } from "./personal-fields.ts";

export type PersonsConversion = {
  readonly id: string;
  readonly click_id: string | null;
  /** The visitor's address; null if it may be the sender's. */
  readonly visitor_ip: string | null;
  readonly ad_ids: readonly string[];
};

/**
 * A browser sends pixels itself. What a server reports has the address of the server unless the report names another address (G102), as its
 * row in the inbound log shows: the address of a server is in the reports of all its visitors.
 */
const VISITOR_IP = `case
  when c.method in ('pixel', 'js') then host(c.conv_ip)
  when (select bool_and(l.ip <> c.conv_ip) from postback_log l where l.conversion_id = c.id and l.endpoint = 'pb') then host(c.conv_ip)
  end as visitor_ip`;

/** Conversions of these clicks, and those up to `untilMs` with one of these keyed hashes of an e-mail. */
export async function findConversions(
  db: Queryable,
  of: {
    readonly workspaceId: number;
    readonly clickIds: readonly string[];
    readonly email:
      | { readonly key: string; readonly hash: string; readonly untilMs: number }
      | undefined;
  },
): Promise<PersonsConversion[]> {
  const { rows } = await db.query<PersonsConversion>({
    name: "find-conversions-of-person",
    text: `select c.id, c.click_id, ${VISITOR_IP},
             array(select v.value from jsonb_each_text(c.click) v where v.key = any($6::text[]) and v.value <> '') as ad_ids
           from conversion c
           where c.workspace_id = $1 and c.click_id = any($2::text[])
           union
           select c.id, c.click_id, ${VISITOR_IP},
             array(select v.value from jsonb_each_text(c.click) v where v.key = any($6::text[]) and v.value <> '') as ad_ids
           from conversion c
           where c.workspace_id = $1 and c.email_hash is not null and $4::text is not null
             and keyed_hash($3, c.email_hash) = $4 and c.conv_ts <= $5`,
    values: [
      of.workspaceId,
      of.clickIds,
      of.email?.key ?? null,
      of.email?.hash ?? null,
      new Date(of.email?.untilMs ?? 0).toISOString(),
      AD_IDS,
    ],
  });
  return rows;
}

/** Clears visitor data of conversions. Status, money and dimensions of reports stay. Returns the number of changed rows. */
export async function eraseConversions(db: Queryable, ids: readonly string[]): Promise<number> {
  const { rowCount } = await db.query({
    name: "erase-conversions",
    text: `update conversion
           set conv_ip = null, email_hash = null, phone_hash = null, click = click - $2::text[],
               report_fingerprint = null, change_fingerprint = null
           where id = any($1::uuid[])
             and (conv_ip is not null or email_hash is not null or phone_hash is not null or click ?| $2::text[]
               or report_fingerprint is not null or change_fingerprint is not null)`,
    values: [ids, AD_IDS],
  });
  await eraseReportFingerprints(db, ids);
  return rowCount ?? 0;
}

/**
 * Clears the fingerprints of reports with an idempotency key, because a person's values could be guessed from them with the secret of
 * the installation. Key and answer stay until they are 7 days old, so that a repeat gets the first answer and is never paid twice.
 */
async function eraseReportFingerprints(
  db: Queryable,
  conversionIds: readonly string[],
): Promise<void> {
  await db.query({
    name: "erase-fingerprints-of-report-keys",
    text: `update report_key set fingerprint = ''
           where coalesce(answer #>> '{taken,conversionId}', answer ->> 'conversionId') = any($1::text[])
             and fingerprint <> ''`,
    values: [conversionIds],
  });
}

/** Clears an address in conversions up to `untilMs`: their own, and in adv1 to adv5. */
export async function eraseAddressOfConversions(
  db: Queryable,
  of: {
    readonly workspaceId: number;
    readonly addresses: readonly string[];
    readonly clickIds: readonly string[];
    readonly untilMs: number;
  },
): Promise<number> {
  const { rows } = await db.query<{ id: string }>({
    name: "erase-address-of-conversions",
    text: `update conversion c
           set conv_ip = case when c.conv_ip = any($2::inet[]) then null else c.conv_ip end,
               report_fingerprint = null, change_fingerprint = null,
               params = without_person(c.params, '{}', $3::text[])
           where c.workspace_id = $1 and c.conv_ts <= $5 and (c.conv_ip = any($2::inet[]) or c.click_id = any($4::text[]))
             and (c.conv_ip = any($2::inet[]) or c.params <> without_person(c.params, '{}', $3::text[]))
           returning c.id`,
    values: [
      of.workspaceId,
      of.addresses,
      of.addresses,
      of.clickIds,
      new Date(of.untilMs).toISOString(),
    ],
  });
  const changed = rows.map(({ id }) => id);
  await eraseReportFingerprints(db, changed);
  return changed.length;
}
