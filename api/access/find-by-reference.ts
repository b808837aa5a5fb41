import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Reference } from "../operation/codes.ts";

/** Finds a record by id or code and, only if there is none, by an alias of its kind (N112). */
export async function findByReference<Row>(
  db: Queryable,
  workspaceId: number,
  {
    kind,
    reference,
    find,
  }: {
    readonly kind: "offer" | "affiliate";
    readonly reference: Reference;
    readonly find: (reference: Reference) => Promise<Row | undefined>;
  },
): Promise<Row | undefined> {
  const found = await find(reference);
  if (found !== undefined || reference.code === "") return found;
  const { rows } = await db.query<{ target_id: number }>({
    name: "find-target-of-alias",
    text: `select target_id from code_alias where workspace_id = $1 and kind = $2 and lower(alias) = lower($3)`,
    values: [workspaceId, kind, reference.code],
  });
  const id = rows[0]?.target_id;
  return id === undefined ? undefined : await find({ id, code: "" });
}
