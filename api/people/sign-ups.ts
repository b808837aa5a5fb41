import { hash } from "node:crypto";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { PrincipalWorkspace } from "../operation/principal.ts";

/** A workspace in which partners may sign up. */
export type OpenWorkspace = PrincipalWorkspace & { readonly shown_name: string };

/** Undefined if no active workspace with this slug lets partners sign up. */
export async function findOpenWorkspace(
  db: Queryable,
  slug: string,
): Promise<OpenWorkspace | undefined> {
  const { rows } = await db.query<OpenWorkspace>({
    name: "find-open-workspace",
    text: `select id, timezone, currency, coalesce(nullif(brand_name, ''), name) as shown_name
           from workspace where slug = $1 and status = 'active' and sign_up = 'review'`,
    values: [slug],
  });
  return rows[0];
}

/** The application of this e-mail in the last 24 hours. Others with the same e-mail wait until the transaction ends, so two at once are one. */
export async function lockSignUp(
  tx: Queryable,
  workspaceId: number,
  email: string,
): Promise<string | undefined> {
  const emailHash = hashOf(email);
  await tx.query({
    name: "lock-sign-up",
    text: "select pg_advisory_xact_lock(hashtext('sign-up'), hashtext($1::text || ' ' || encode($2::bytea, 'hex')))",
    values: [workspaceId, emailHash],
  });
  const { rows } = await tx.query<{ id: string }>({
    name: "find-sign-up",
    text: `select id from sign_up
           where workspace_id = $1 and email_hash = $2 and created_at > now() - interval '24 hours'
           order by created_at desc limit 1`,
    values: [workspaceId, emailHash],
  });
  return rows[0]?.id;
}

export async function insertSignUp(
  tx: Queryable,
  signUp: {
    readonly id: string;
    readonly workspaceId: number;
    readonly email: string;
    readonly affiliateId: number;
  },
): Promise<void> {
  await tx.query({
    name: "insert-sign-up",
    text: "insert into sign_up (id, workspace_id, email_hash, affiliate_id) values ($1, $2, $3, $4)",
    values: [signUp.id, signUp.workspaceId, hashOf(signUp.email), signUp.affiliateId],
  });
}

function hashOf(email: string): Buffer {
  return hash("sha256", email.toLowerCase(), "buffer");
}
