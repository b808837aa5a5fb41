import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { oneOf, recordId, shownTime, text } from "../../fields/body-fields.ts";
import { time } from "../../fields/catalog-fields.ts";
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
    code: text(CODE_MAX).regex(/^\S(?:.*\S)?$/, "expected a code"),
    offer_id: recordId.nullable(),
    affiliate_id: recordId,
    status: oneOf(...STATUSES),
    starts_at: time.nullable(),
    ends_at: time.nullable(),
  },
  required: ["code", "affiliate_id"],
  defaults: { offer_id: null, status: "active", starts_at: null, ends_at: null },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  shown: {
    code: z.string(),
    offer_id: z.int().nullable(),
    affiliate_id: z.int(),
    status: z.enum(STATUSES),
    starts_at: shownTime.nullable(),
    ends_at: shownTime.nullable(),
  },
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
