import { z } from "zod";
import { unrestrictedStaff } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { pathId } from "../../http/path-fields.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { ShownKey } from "./key-fields.ts";
import { findKeyById, type KeyRow, presentKey } from "./keys.ts";

export const KeyPath = z.object({ id: pathId });

/** @throws {ApiError} `not_found`. */
export async function getKeyOfPath(
  { db, workspace }: OperationContext,
  { id }: { readonly id: number },
): Promise<KeyRow> {
  const key = await findKeyById(db, workspace.id, id);
  if (key === undefined) throw notFound("key");
  return key;
}

export const getKey: Operation = operation({
  name: "getKey",
  method: "GET",
  path: "/keys/{id}",
  tag: "Management",
  summary: "Get an API key",
  description: "Without its secret.",
  access: unrestrictedStaff,
  input: { path: KeyPath },
  output: z.object({ data: ShownKey }),
  status: 200,
  findResource: getKeyOfPath,
  run: async ({ principal }, { resource }) =>
    await Promise.resolve({
      body: { data: showTo(principal.role, "key", presentKey(resource)) },
    }),
});
