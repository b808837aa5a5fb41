import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { name, shownTime } from "../../fields/body-fields.ts";
import { caps, recordIds } from "../../fields/catalog-fields.ts";
import { field } from "../../fields/field.ts";
import { manage } from "../../records/manage.ts";

/** Offers that share caps (G105). */
export const offerGroups = manage({
  resource: "offer_group",
  names: { one: "OfferGroup", many: "OfferGroups" },
  path: "/offer-groups",
  table: "offer_group",
  fields: {
    name: field(name(), { shown: z.string(), required: true }),
    offer_ids: field(recordIds, { shown: z.array(z.int()), unset: [] }),
    caps: field(caps, { shown: z.looseObject({}), unset: {} }),
  },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  read: staff("offers.read"),
  write: adminWrite("offers.write"),
  references: { offer_ids: "offer" },
});
