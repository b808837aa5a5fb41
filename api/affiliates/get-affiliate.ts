import { z } from "zod";
import { staff } from "../access/access-of-operations.ts";
import { showTo } from "../access/visibility.ts";
import { notFound } from "../errors.ts";
import { type Operation, type OperationContext, operation } from "../operation.ts";
import type { Reference } from "../rest/codes.ts";
import { reference } from "../rest/path-fields.ts";
import { ShownAffiliate } from "./affiliate-fields.ts";
import { type AffiliateRow, findAffiliate } from "./affiliates.ts";

/** `{id}` of an affiliate in a path (ENV-017). */
export const AffiliatePath = z.object({ id: reference });

/** @throws {ApiError} `not_found`. */
export async function getAffiliateOfPath(
  { db, workspace }: OperationContext,
  { id }: { readonly id: Reference },
): Promise<AffiliateRow> {
  const affiliate = await findAffiliate(db, workspace.id, id);
  if (affiliate === undefined) throw notFound("affiliate");
  return affiliate;
}

export const getAffiliate: Operation = operation({
  name: "getAffiliate",
  method: "GET",
  path: "/affiliates/{id}",
  tag: "Affiliates",
  summary: "One affiliate by id or code",
  access: staff("affiliates.read"),
  input: { path: AffiliatePath },
  output: z.object({ data: ShownAffiliate }),
  status: 200,
  findResource: getAffiliateOfPath,
  run: async ({ principal }, { resource }) =>
    await Promise.resolve({ body: { data: showTo(principal.role, "affiliate", resource) } }),
});
