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
import { queueEvent, type Shown } from "../webhooks/queue-event.ts";
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
  run: async ({ principal, db, workspace }, { body, resource }) => {
    try {
      const affiliate = await inTransaction(db, async (tx) => {
        const { before, after } = await change(tx, resource.id, body);
        if (before !== after)
          await queueEvent(tx, workspace.id, "affiliate.updated", () => ({
            data: affiliateDocument(after),
            before: affiliateDocument(before),
          }));
        return after;
      });
      return { body: { data: showTo(principal.role, "affiliate", affiliate) } };
    } catch (error) {
      if (violatedConstraint(error) !== "affiliate_code") throw error;
      throw conflict("code", "another affiliate has this code");
    }
  },
});

/** A body that changes nothing leaves `updated_at` as it is (G13, G28): then both are one. */
async function change(
  tx: Queryable,
  id: number,
  body: PatchAffiliateBody,
): Promise<{ readonly before: AffiliateRow; readonly after: AffiliateRow }> {
  const current = await lockAffiliate(tx, id);
  if (current === undefined) throw notFound("affiliate");
  const next = { ...current, ...presentFields(body) };
  const isSame = isDeepStrictEqual(next, current);
  return { before: current, after: isSame ? current : await updateRow(tx, id, next) };
}

/** What webhooks are told of a partner: neither notes nor how it is paid (G128). */
function affiliateDocument(row: AffiliateRow): Shown {
  const { id, code, name, status, email, company, country, created_at } = row;
  return { id, code, name, status, email, company, country, created_at };
}
