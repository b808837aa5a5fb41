import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { FieldFaults, OperationContext } from "../operation/operation.ts";

/** Kinds of records that a field of a body may name; a user is a staff member (G63). */
type Referenced = "offer" | "affiliate" | "advertiser" | "user" | "tracking_domain";

/** Field of a body → kind of record that its id, or each id in its list, names. */
export type References = Readonly<Record<string, Referenced>>;

/** One statement for each kind: returns the given ids that are records of the workspace. */
const FIND: Readonly<Record<Referenced, { readonly name: string; readonly text: string }>> = {
  offer: {
    name: "find-referenced-offers",
    text: "select id from offer where workspace_id = $1 and deleted_at is null and id = any($2::integer[])",
  },
  affiliate: {
    name: "find-referenced-affiliates",
    text: "select id from affiliate where workspace_id = $1 and id = any($2::integer[])",
  },
  advertiser: {
    name: "find-referenced-advertisers",
    text: "select id from advertiser where workspace_id = $1 and id = any($2::integer[])",
  },
  user: {
    name: "find-referenced-users",
    text: "select id from app_user where workspace_id = $1 and id = any($2::integer[])",
  },
  tracking_domain: {
    name: "find-referenced-domains",
    text: "select id from tracking_domain where workspace_id = $1 and id = any($2::integer[])",
  },
};

const NOUN: Readonly<Record<Referenced, string>> = {
  offer: "offer",
  affiliate: "affiliate",
  advertiser: "advertiser",
  user: "staff user",
  tracking_domain: "tracking domain",
};

const Id = z.int().positive().max(2_147_483_647);
const Ids = z.union([Id.transform((id) => [id]), z.array(Id).max(1_000)]);

/** Fields that name a record that does not exist or belongs to another workspace. Other values than ids are left to the schema. */
export async function referenceFaults(
  { db, workspace }: OperationContext,
  body: Readonly<Record<string, unknown>>,
  references: References,
): Promise<FieldFaults> {
  const faults: Record<string, string> = {};
  for (const [field, kind] of Object.entries(references)) {
    const ids = Ids.safeParse(body[field]);
    if (!ids.success || ids.data.length === 0) continue;
    const known = await findReferenced(db, workspace.id, { kind, ids: ids.data });
    const missing = ids.data.find((id) => !known.has(id));
    if (missing === undefined) continue;
    faults[field] = `no such ${NOUN[kind]}${Array.isArray(body[field]) ? `: ${missing}` : ""}`;
  }
  return faults;
}

/** Returns the given ids that are records of the workspace. */
export async function findReferenced(
  db: Queryable,
  workspaceId: number,
  { kind, ids }: { readonly kind: Referenced; readonly ids: readonly number[] },
): Promise<ReadonlySet<number>> {
  const { rows } = await db.query<{ id: number }>({ ...FIND[kind], values: [workspaceId, ids] });
  return new Set(rows.map(({ id }) => id));
}
