import { z } from "zod";
import { unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { deletedRecord } from "../../fields/body-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { getKeyOfPath, KeyPath } from "./get-key.ts";
import { revokeKey as revokeRow } from "./keys.ts";

export const revokeKey: Operation = operation({
  name: "revokeKey",
  method: "DELETE",
  path: "/keys/{id}",
  tag: "Management",
  summary: "Revoke an API key",
  description: "It stays in the list, with `revoked_at`.",
  access: { ...unrestrictedAdminWrite, needsFresh: true },
  input: { path: KeyPath },
  output: z.object({ data: deletedRecord }),
  status: 200,
  findResource: getKeyOfPath,
  run: async ({ db }, { resource }) => {
    await revokeRow(db, resource.id);
    return { body: { data: { id: resource.id, deleted: true } } };
  },
});
