import { randomBytes } from "node:crypto";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { ApiError } from "../../operation/errors.ts";

const TOKEN_BYTES = 16;
/** Bounds what every process keeps in memory for an advertiser. */
const OLD_TOKENS_MAX = 10;

/** A server-to-server token (G62): 32 hex digits. */
export function mintPostbackToken(): string {
  return randomBytes(TOKEN_BYTES).toString("hex");
}

/** The token of an advertiser, and the ends of replaced tokens that are still good. */
export type OwnTokens = {
  readonly postback_token: string;
  readonly may_rotate: boolean;
  readonly old_tokens: readonly { readonly ends_with: string; readonly good_until: string }[];
};

export async function readOwnTokens(db: Queryable, advertiserId: number): Promise<OwnTokens> {
  const { rows } = await db.query<OwnTokens>({
    name: "read-own-tokens",
    text: `select a.postback_token, w.advertiser_may_rotate as may_rotate,
             coalesce((select json_agg(json_build_object('ends_with', right(t.token, 4),
                 'good_until', to_char(t.good_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                 order by t.good_until desc, t.id desc)
               from advertiser_old_token t where t.advertiser_id = a.id and t.good_until > clock_timestamp()), '[]'::json) as old_tokens
           from advertiser a join workspace w on w.id = a.workspace_id where a.id = $1`,
    values: [advertiserId],
  });
  const [row] = rows;
  // An advertiser is never deleted, and its key has just been admitted.
  if (row === undefined) throw new Error("the advertiser of the key is gone");
  return row;
}

/**
 * Gives an advertiser a new token. Must run in a transaction, so that every process knows the old or the new one at any time. The old
 * token stays good for `graceHours`; with 0, it and all earlier ones end at once. @throws {ApiError} `conflict` for too many old tokens.
 */
export async function replaceOwnToken(
  tx: Queryable,
  advertiserId: number,
  graceHours: number,
): Promise<void> {
  const { rows } = await tx.query<{ postback_token: string }>({
    name: "lock-own-token",
    text: "select postback_token from advertiser where id = $1 for no key update",
    values: [advertiserId],
  });
  if (graceHours === 0) await forgetOldTokens(tx, advertiserId);
  else await keepOldToken(tx, advertiserId, { token: rows[0]?.postback_token ?? "", graceHours });
  await tx.query({
    name: "set-own-token",
    text: "update advertiser set postback_token = $2, updated_at = clock_timestamp() where id = $1",
    values: [advertiserId, mintPostbackToken()],
  });
}

async function keepOldToken(
  tx: Queryable,
  advertiserId: number,
  { token, graceHours }: { readonly token: string; readonly graceHours: number },
): Promise<void> {
  await tx.query({
    name: "forget-ended-tokens",
    text: "delete from advertiser_old_token where advertiser_id = $1 and good_until <= clock_timestamp()",
    values: [advertiserId],
  });
  const { rowCount } = await tx.query({
    name: "keep-old-token",
    text: `insert into advertiser_old_token (advertiser_id, token, good_until)
           select $1, $2, clock_timestamp() + $3 * interval '1 hour'
           where (select count(*) from advertiser_old_token where advertiser_id = $1) < $4`,
    values: [advertiserId, token, graceHours, OLD_TOKENS_MAX],
  });
  if (rowCount === 0) {
    throw new ApiError(
      "conflict",
      `${OLD_TOKENS_MAX} earlier tokens are still good: wait until one ends, or rotate with grace_hours 0, which ends all of them`,
      { details: { field: "grace_hours" } },
    );
  }
}

/** Ends all replaced tokens of the advertiser. */
export async function forgetOldTokens(tx: Queryable, advertiserId: number): Promise<void> {
  await tx.query({
    name: "forget-old-tokens",
    text: "delete from advertiser_old_token where advertiser_id = $1",
    values: [advertiserId],
  });
}
