import { z } from "zod";
import { isStaffUser } from "../affiliates/affiliates.ts";
import type { FieldFaults, OperationContext } from "../operation.ts";

const Id = z.int().positive().max(2_147_483_647);

/** `field` of a body names a staff user of the workspace, or null (AFF-021, G63). */
export async function staffUserFaults(
  { db, workspace }: OperationContext,
  body: Readonly<Record<string, unknown>>,
  field: string,
): Promise<FieldFaults> {
  const id = Id.safeParse(body[field]);
  if (!id.success || (await isStaffUser(db, workspace.id, id.data))) return {};
  return { [field]: "no such staff user" };
}
