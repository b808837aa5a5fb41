import { isDeepStrictEqual } from "node:util";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { OperationContext } from "../operation/operation.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Keeps the fields of a change that differ, in the transaction of the change (N13); nothing if none does. Secrets have to be masked before, and
 * still differ if the secrets do.
 */
export async function noteChange(
  db: Queryable,
  { principal: { workspace, actor }, clientIp }: Pick<OperationContext, "principal" | "clientIp">,
  change: {
    readonly resource: string;
    /** Default: a setting of the workspace. */
    readonly resourceId?: number;
    readonly before: Fields;
    readonly after: Fields;
  },
): Promise<void> {
  const { resource, resourceId, before, after } = change;
  const names = Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (names.length === 0) return;
  const pick = (fields: Fields): Fields =>
    Object.fromEntries(names.map((name) => [name, fields[name] ?? null]));
  await db.query({
    name: "note-change",
    text: `insert into change_log (workspace_id, resource, resource_id, key_id, person_id, address, before, after)
           values ($1, $2, $3, $4, $5, nullif($6, '')::inet, $7, $8)`,
    values: [
      workspace.id,
      resource,
      resourceId === undefined ? "" : String(resourceId),
      actor.kind === "key" ? actor.id : null,
      actor.kind === "person" ? actor.id : null,
      clientIp,
      pick(before),
      pick(after),
    ],
  });
}
