import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { oneOf, recordId, shownTime, text } from "../../fields/body-fields.ts";
import { time } from "../../fields/catalog-fields.ts";
import { field } from "../../fields/field.ts";
import { idParam, textParam, wordParam } from "../../http/query-fields.ts";
import { manage } from "../../records/manage.ts";
import { periodFaults } from "./period-faults.ts";

const STATUSES = ["active", "inactive"] as const;
const CODE_MAX = 64;

/** Codes that credit a partner without a click (G115). */
export const coupons = manage({
  resource: "coupon",
  names: { one: "Coupon", many: "Coupons" },
  path: "/coupons",
  table: "coupon",
  fields: {
    code: field(text(CODE_MAX).regex(/^\S(?:.*\S)?$/, "expected a code"), {
      shown: z.string(),
      required: true,
    }),
    offer_id: field(recordId.nullable(), { shown: z.int().nullable(), unset: null }),
    affiliate_id: field(recordId, { shown: z.int(), required: true }),
    status: field(oneOf(...STATUSES), { shown: z.enum(STATUSES), unset: "active" }),
    starts_at: field(time.nullable(), { shown: shownTime.nullable(), unset: null }),
    ends_at: field(time.nullable(), { shown: shownTime.nullable(), unset: null }),
  },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  filters: {
    code: textParam,
    offer_id: idParam,
    affiliate_id: idParam,
    status: wordParam(...STATUSES),
  },
  read: staff("conversions.read"),
  write: adminWrite("conversions.write"),
  references: { offer_id: "offer", affiliate_id: "affiliate" },
  taken: { coupon_code: "code" },
  findFaults: (_context, values) => periodFaults(values),
});
