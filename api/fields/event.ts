import { z } from "zod";
import { flag, money, name, oneOf, shownMoney } from "./body-fields.ts";
import { eventCode } from "./catalog-fields.ts";
import { field } from "./field.ts";
import { inWords, NO_MONEY, PAID_FOR, PAYOUT_TYPES, REVENUE_TYPES } from "./terms.ts";

/**
 * The fields of an event of an offer that a body may have. Its types are by action or by sale; only the offer itself can be paid by click
 * (G43). A column in a migration and a line here make a new field.
 */
export const EVENT = {
  code: field(eventCode, {
    shown: z.string(),
    required: true,
    form: {
      part: "code",
      label: "Code",
      hint: "Such as signup: advertisers report it as event=",
    },
  }),
  /** An event without a name is named after its code. */
  name: field(name(), { shown: z.string(), form: { part: "name", label: "Name" } }),
  revenue_type: field(oneOf("rpa", "rps"), {
    shown: z.enum(REVENUE_TYPES),
    unset: "rpa",
    hiddenFrom: ["partner"],
    form: { part: "revenue", label: "Revenue", choices: inWords(["rpa", "rps"], PAID_FOR) },
  }),
  revenue: field(money, {
    shown: shownMoney,
    unset: NO_MONEY,
    hiddenFrom: ["partner"],
    form: { part: "revenue", label: "Revenue value" },
  }),
  payout_type: field(oneOf("cpa", "cps"), {
    shown: z.enum(PAYOUT_TYPES),
    unset: "cpa",
    hiddenFrom: ["advertiser"],
    form: { part: "payout", label: "Payout", choices: inWords(["cpa", "cps"], PAID_FOR) },
  }),
  payout: field(money, {
    shown: shownMoney,
    unset: NO_MONEY,
    hiddenFrom: ["advertiser"],
    form: { part: "payout", label: "Payout value" },
  }),
  is_private: field(flag, {
    shown: z.boolean(),
    unset: false,
    note: "Hidden from partners, and never sent to them",
    form: { part: "flags", label: "Private: partners do not see it", kind: "flag" },
  }),
  allow_multiple: field(flag, {
    shown: z.boolean(),
    unset: false,
    note: "One click may convert several times; orders are distinguished by their txid",
    form: { part: "flags", label: "Several for each click", kind: "flag" },
  }),
};
