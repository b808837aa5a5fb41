import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { ADVERTISER, ADVERTISER_STATUSES } from "../../fields/advertiser.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { isAnyOf, matches } from "../../http/filter-conditions.ts";
import { byName } from "../../http/list-order.ts";
import { idsParam, textParam, wordParam } from "../../http/query-fields.ts";
import { manage } from "../../records/manage.ts";
import { forgetOldTokens, mintPostbackToken } from "./own-tokens.ts";

/** Owners of offers. A new advertiser's currency is the workspace's (ADV-004). */
export const advertisers = manage({
  resource: "advertiser",
  names: { one: "Advertiser", many: "Advertisers" },
  path: "/advertisers",
  tag: "Advertisers",
  descriptions: { create: "The answer contains its postback token." },
  table: "advertiser",
  fields: ADVERTISER,
  generated: ({ workspace }) => ({ currency: workspace.currency }),
  readOnly: {
    id: z.int(),
    postback_token: z.string(),
    created_at: shownTime,
    updated_at: shownTime,
  },
  secret: {
    column: "postback_token",
    mint: mintPostbackToken,
    forgetEarlier: forgetOldTokens,
    operation: {
      name: "rotateAdvertiserToken",
      pathEnd: "rotate-postback-token",
      summary: "Rotate the postback token of an advertiser",
      description: "The old token stops working within a second.",
    },
  },
  filters: {
    status: wordParam(...ADVERTISER_STATUSES),
    q: textParam.meta({ description: "Part of the name, company or e-mail" }),
    ids: idsParam.meta({ description: "Comma-separated ids" }),
  },
  conditions: { q: matches(["name", "company", "email"]), ids: isAnyOf("id") },
  sorts: { name: byName("name") },
  read: staff("advertisers.read"),
  write: adminWrite("advertisers.write"),
  references: { account_manager_id: "user" },
});
