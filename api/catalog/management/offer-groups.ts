import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { name, shownTime } from "../../fields/body-fields.ts";
import { caps, recordIds } from "../../fields/catalog-fields.ts";
import { manage } from "../../records/manage.ts";

/** Offers that share caps (G105). */
export const offerGroups = manage({
  resource: "offer_group",
  names: { one: "OfferGroup", many: "OfferGroups" },
  path: "/offer-groups",
  table: "offer_group",
  fields: { name: name(), offer_ids: recordIds, caps },
  required: ["name"],
  defaults: { offer_ids: [], caps: {} },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  shown: { name: z.string(), offer_ids: z.array(z.int()), caps: z.looseObject({}) },
  read: staff("offers.read"),
  write: adminWrite("offers.write"),
  references: { offer_ids: "offer" },
});
