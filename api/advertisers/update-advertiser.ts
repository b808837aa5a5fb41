import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { adminWrite } from "../access/access-of-operations.ts";
import { referenceFaults } from "../access/references.ts";
import { showTo } from "../access/visibility.ts";
import { notFound } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import { presentFields } from "../rest/patch.ts";
import { PatchAdvertiserBody, ShownAdvertiser } from "./advertiser-fields.ts";
import {
  type AdvertiserRow,
  lockAdvertiser,
  updateAdvertiser as updateRow,
} from "./advertisers.ts";
import { AdvertiserPath, getAdvertiserOfPath } from "./get-advertiser.ts";

export const updateAdvertiser: Operation = operation({
  name: "updateAdvertiser",
  method: "PATCH",
  path: "/advertisers/{id}",
  tag: "Advertisers",
  summary: "Change fields of an advertiser",
  access: adminWrite("advertisers.write"),
  input: { path: AdvertiserPath, body: PatchAdvertiserBody },
  output: z.object({ data: ShownAdvertiser }),
  status: 200,
  findResource: getAdvertiserOfPath,
  findFaults: async (context, { body }) =>
    await referenceFaults(context, body, { account_manager_id: "user" }),
  run: async ({ principal, db }, { body, resource }) => {
    const advertiser = await inTransaction(db, async (tx) => await change(tx, resource.id, body));
    return { body: { data: showTo(principal.role, "advertiser", advertiser) } };
  },
});

/** A body that changes nothing leaves `updated_at` as it is (G28). */
async function change(
  tx: Queryable,
  id: number,
  body: PatchAdvertiserBody,
): Promise<AdvertiserRow> {
  const current = await lockAdvertiser(tx, id);
  if (current === undefined) throw notFound("advertiser");
  const next = { ...current, ...presentFields(body) };
  return isDeepStrictEqual(next, current) ? current : await updateRow(tx, id, next);
}
