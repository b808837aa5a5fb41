import { z } from "zod";
import { staff } from "../access/access-of-operations.ts";
import { showTo } from "../access/visibility.ts";
import { notFound } from "../errors.ts";
import { type Operation, type OperationContext, operation } from "../operation.ts";
import { pathId } from "../rest/path-fields.ts";
import { ShownAdvertiser } from "./advertiser-fields.ts";
import { type AdvertiserRow, findAdvertiser } from "./advertisers.ts";

export const AdvertiserPath = z.object({ id: pathId });

/** @throws {ApiError} `not_found`. */
export async function getAdvertiserOfPath(
  { db, workspace }: OperationContext,
  { id }: { readonly id: number },
): Promise<AdvertiserRow> {
  const advertiser = await findAdvertiser(db, workspace.id, id);
  if (advertiser === undefined) throw notFound("advertiser");
  return advertiser;
}

export const getAdvertiser: Operation = operation({
  name: "getAdvertiser",
  method: "GET",
  path: "/advertisers/{id}",
  tag: "Advertisers",
  summary: "One advertiser",
  access: staff("advertisers.read"),
  input: { path: AdvertiserPath },
  output: z.object({ data: ShownAdvertiser }),
  status: 200,
  findResource: getAdvertiserOfPath,
  run: async ({ principal }, { resource }) =>
    await Promise.resolve({ body: { data: showTo(principal.role, "advertiser", resource) } }),
});
