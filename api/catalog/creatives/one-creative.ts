import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { adminWrite, everyRole } from "../../access/access-of-operations.ts";
import { shownShape } from "../../fields/field.ts";
import type { FieldFaults } from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";
import { manage } from "../../records/manage.ts";
import type { ManagedRow } from "../../records/managed-table.ts";
import { getOffer } from "../offers/get-offer.ts";
import type { OfferRow } from "../offers/offer-fields.ts";
import { findOffer } from "../offers/offers.ts";
import { creativeFields, readOnlyOfCreative, shownToPartners } from "./creative-fields.ts";
import { partnerLinkOf } from "./partner-link.ts";
import { creativeOfPartner } from "./show-creative.ts";

/** Bounds the list of an offer, which is returned without paging. */
const CREATIVES_MAX = 500;

const { name, kind, url, body, width, height } = shownShape(creativeFields);
const Stored = z.looseObject({ offer_id: z.int(), name, kind, url, body, width, height });

/** The field that a creative of each kind needs. A link needs neither: it is at least the partner's own link. */
const REQUIRED_CONTENT: Readonly<Record<string, "url" | "body">> = {
  image: "url",
  html: "body",
  text: "body",
  email: "body",
};

/** One creative. Every key that sees it in the list of its offer may read it; admins write (CRE-009, G179). */
export const oneCreative = manage({
  resource: "creative",
  names: { one: "Creative", many: "Creatives" },
  path: "/creatives",
  tag: "Creatives",
  table: "creative",
  fields: creativeFields,
  readOnly: readOnlyOfCreative,
  setOnCreate: ["offer_id"],
  parent: { operation: getOffer, column: "offer_id" },
  recordsMax: CREATIVES_MAX,
  shown: shownToPartners,
  read: everyRole("creatives.read"),
  write: adminWrite("offers.write"),
  findFaults: (_context, values) => contentFaults(values),
  isVisible: async (db, principal, row) => {
    if (principal.role === "partner" && row["status"] !== "active") return false;
    const offer = await offerOf(db, principal, row);
    return principal.role === "partner"
      ? offer !== undefined && partnerLinkOf(principal, offer) !== undefined
      : offer !== undefined;
  },
  present: async ({ db, principal }, row) => {
    if (principal.role !== "partner") return row;
    const offer = await offerOf(db, principal, row);
    const link = offer && partnerLinkOf(principal, offer);
    return link === undefined ? row : creativeOfPartner(Stored.parse(row), link);
  },
});

async function offerOf(
  db: Queryable,
  principal: Principal,
  row: ManagedRow,
): Promise<OfferRow | undefined> {
  return await findOffer(db, principal, { id: Stored.parse(row).offer_id, code: "" });
}

function contentFaults(values: Readonly<Record<string, unknown>>): FieldFaults {
  const needed = REQUIRED_CONTENT[String(values["kind"])];
  return needed !== undefined && values[needed] === ""
    ? { [needed]: "required for a creative of this kind" }
    : {};
}
