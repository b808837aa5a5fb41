import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { violatedConstraint } from "../../schemas/postgres/errors.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { adminWrite } from "../access/access-of-operations.ts";
import { referenceFaults } from "../access/references.ts";
import { showTo } from "../access/visibility.ts";
import { conflict, notFound } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import { presentFields } from "../rest/patch.ts";
import { PatchAffiliateBody, ShownAffiliate } from "./affiliate-fields.ts";
import { type AffiliateRow, lockAffiliate, updateAffiliate as updateRow } from "./affiliates.ts";
import { AffiliatePath, getAffiliateOfPath } from "./get-affiliate.ts";

export const updateAffiliate: Operation = operation({
  name: "updateAffiliate",
  method: "PATCH",
  path: "/affiliates/{id}",
  tag: "Affiliates",
  summary: "Change fields of an affiliate",
  access: adminWrite("affiliates.write"),
  input: { path: AffiliatePath, body: PatchAffiliateBody },
  output: z.object({ data: ShownAffiliate }),
  status: 200,
  failures: ["conflict"],
  findResource: getAffiliateOfPath,
  findFaults: async (context, { body }) =>
    await referenceFaults(context, body, { manager_id: "user" }),
  run: async ({ principal, db }, { body, resource }) => {
    try {
      const affiliate = await inTransaction(db, async (tx) => await change(tx, resource.id, body));
      return { body: { data: showTo(principal.role, "affiliate", affiliate) } };
    } catch (error) {
      if (violatedConstraint(error) !== "affiliate_code") throw error;
      throw conflict("code", "another affiliate has this code");
    }
  },
});

/** A body that changes nothing leaves `updated_at` as it is (G13, G28). */
async function change(tx: Queryable, id: number, body: PatchAffiliateBody): Promise<AffiliateRow> {
  const current = await lockAffiliate(tx, id);
  if (current === undefined) throw notFound("affiliate");
  const next = { ...current, ...presentFields(body) };
  return isDeepStrictEqual(next, current) ? current : await updateRow(tx, id, next);
}
