import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { findReferenced } from "../../access/references.ts";
import { count, name, oneOf, recordId, shownTime, text } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { givenCode, targeting } from "../../fields/catalog-fields.ts";
import { field } from "../../fields/field.ts";
import { idParam, textParam, wordParam } from "../../http/query-fields.ts";
import { mintCode } from "../../operation/codes.ts";
import type { FieldFaults, OperationContext } from "../../operation/operation.ts";
import { manage } from "../../records/manage.ts";

const STATUSES = ["active", "paused"] as const;
const MODES = ["weighted", "waterfall"] as const;
const RULES_MAX = 100;
const OFFERS_MAX = 100;
const WEIGHT_MAX = 1_000_000;

const offersOfRule = listOf(
  z.strictObject({
    offer_id: recordId,
    weight: count({ min: 0, max: WEIGHT_MAX }).default(1),
  }),
  {
    expected: "expected a list of offers",
    max: OFFERS_MAX,
    tooMany: `expected at most ${OFFERS_MAX} offers`,
  },
).min(1, "expected an offer");

const rules = listOf(
  z.strictObject({
    name: text(200).default(""),
    conditions: targeting.default({}),
    offers: offersOfRule,
  }),
  {
    expected: "expected a list of rules",
    max: RULES_MAX,
    tooMany: `expected at most ${RULES_MAX} rules`,
  },
);

const ShownRules = z.array(
  z.strictObject({
    name: z.string(),
    conditions: z.looseObject({}),
    offers: z.array(z.strictObject({ offer_id: z.int(), weight: z.int() })),
  }),
);

/** Links that choose one of several offers (G147). */
export const smartLinks = manage({
  resource: "smart_link",
  names: { one: "SmartLink", many: "SmartLinks" },
  path: "/smart-links",
  table: "smart_link",
  fields: {
    code: field(givenCode, { shown: z.string() }),
    name: field(name(), { shown: z.string(), required: true }),
    status: field(oneOf(...STATUSES), { shown: z.enum(STATUSES), unset: "active" }),
    affiliate_id: field(recordId.nullable(), { shown: z.int().nullable(), unset: null }),
    mode: field(oneOf(...MODES), { shown: z.enum(MODES), unset: "weighted" }),
    rules: field(rules, { shown: ShownRules, unset: [] }),
  },
  generated: () => ({ code: mintCode() }),
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  filters: { status: wordParam(...STATUSES), affiliate_id: idParam, code: textParam },
  read: staff("links.read"),
  write: adminWrite("offers.write"),
  references: { affiliate_id: "affiliate" },
  taken: { smart_link_code: "code" },
  findFaults: async (context, values) => await ruleFaults(context, values),
  findUse: async (db, id) => ((await hasConversions(db, id)) ? "conversions" : undefined),
});

/** Each offer of a rule must belong to the workspace, and each rule of a weighted link needs a weight above 0. */
async function ruleFaults(
  { db, workspace }: OperationContext,
  values: Readonly<Record<string, unknown>>,
): Promise<FieldFaults> {
  const parsed = rules.safeParse(values["rules"]);
  if (!parsed.success) return {};
  const faults: Record<string, string> = {};
  const named = Object.fromEntries(
    parsed.data.flatMap(({ offers }, rule) =>
      offers.map(({ offer_id }, offer) => [`rules[${rule}].offers[${offer}].offer_id`, offer_id]),
    ),
  );
  const offerIds = [...new Set(Object.values(named))];
  const known = await findReferenced(db, workspace.id, { kind: "offer", ids: offerIds });
  for (const [path, id] of Object.entries(named)) {
    if (!known.has(id)) faults[path] = "no such offer";
  }
  if (values["mode"] === "weighted") {
    for (const [index, { offers }] of parsed.data.entries()) {
      if (offers.every(({ weight }) => weight === 0))
        faults[`rules[${index}].offers`] = "expected a weight above 0";
    }
  }
  return faults;
}

async function hasConversions(db: Queryable, smartLinkId: number): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: "smart-link-has-conversions",
    text: "select exists (select from conversion where smart_link_id = $1) as found",
    values: [smartLinkId],
  });
  return rows[0]?.found === true;
}
