import { z } from "zod";
import { adminWrite } from "../access/access-of-operations.ts";
import { showTo } from "../access/visibility.ts";
import { notFound } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import { ShownAdvertiser } from "./advertiser-fields.ts";
import { rotatePostbackToken } from "./advertisers.ts";
import { AdvertiserPath, getAdvertiserOfPath } from "./get-advertiser.ts";

export const rotateAdvertiserToken: Operation = operation({
  name: "rotateAdvertiserToken",
  method: "POST",
  path: "/advertisers/{id}/rotate-postback-token",
  tag: "Management",
  summary: "Give an advertiser a new postback token; the old one stops working within a second",
  access: adminWrite("advertisers.write"),
  input: { path: AdvertiserPath },
  output: z.object({ data: ShownAdvertiser }),
  status: 200,
  findResource: getAdvertiserOfPath,
  run: async ({ db, principal }, { resource }) => {
    const advertiser = await rotatePostbackToken(db, resource.id);
    if (advertiser === undefined) throw notFound("advertiser");
    return { body: { data: showTo(principal.role, "advertiser", advertiser) } };
  },
});
