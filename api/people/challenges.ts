import type { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";

export type ChallengeKind = "passkey" | "passkey-sign-in" | "oidc" | "oidc-sign-in";

/** Keeps the server's half of something that the browser finishes. Returns its id. */
export async function insertChallenge(
  db: Queryable,
  kind: ChallengeKind,
  { value, minutes }: { readonly value: object; readonly minutes: number },
): Promise<string> {
  const { rows } = await db.query<{ id: string }>({
    name: "insert-challenge",
    text: `insert into challenge (kind, value, expires_at)
           values ($1, $2, now() + make_interval(mins => $3)) returning id`,
    values: [kind, JSON.stringify(value), minutes],
  });
  return rows[0]?.id ?? "";
}

/** Each challenge counts once. Undefined if it is unknown, used or over. */
export async function useChallenge<Value>(
  db: Queryable,
  kind: ChallengeKind,
  { id, schema }: { readonly id: string; readonly schema: z.ZodType<Value> },
): Promise<Value | undefined> {
  const { rows } = await db.query<{ value: unknown; is_live: boolean }>({
    name: "use-challenge",
    text: "delete from challenge where id = $1 and kind = $2 returning value, expires_at > now() as is_live",
    values: [id, kind],
  });
  const [row] = rows;
  return row?.is_live === true ? schema.parse(row.value) : undefined;
}
