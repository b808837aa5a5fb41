import { z } from "zod";
import { CONVERSION_STATUSES } from "../../../schemas/events/conversion-words.ts";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { isStorable, shownCurrency, shownMoney, shownTime } from "../../fields/body-fields.ts";
import { idsParam, rangeParams, wordParam } from "../../http/query-fields.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { sentAs } from "../../operation/parameters.ts";
import { UPDATE_FIELDS } from "./column-names.ts";
import {
  namesOfPartners,
  OUTCOMES,
  SHOWN_STATUSES,
  type StoredUpdate,
  type StoredUpdateRow,
} from "./stored-update.ts";

const NAME_MAX = 255;
const REASON_MAX = 200;
const COLUMNS_CHARACTERS_MAX = 20_000;

const ColumnFields = z.record(z.string(), z.enum([...UPDATE_FIELDS, ""]));

function shortText(max: number) {
  return z
    .string()
    .max(max, `expected at most ${max} characters`)
    .refine(isStorable, "contains a character that is not allowed");
}

const columnsParam = sentAs(
  z
    .string()
    .max(COLUMNS_CHARACTERS_MAX, `expected at most ${COLUMNS_CHARACTERS_MAX} characters`)
    .transform((text, context) => {
      const parsed = ColumnFields.safeParse(jsonOf(text));
      if (parsed.success) return parsed.data;
      context.addIssue(
        `expected a JSON object of column names and fields: ${UPDATE_FIELDS.join(", ")}, or "" to leave a column out`,
      );
      return z.NEVER;
    })
    .optional(),
  z.string().meta({
    description:
      'JSON object of names of columns and the fields that they stand for, "" to leave one out. Usual names are recognised without it',
    examples: ['{"Order No":"txid"}'],
  }),
);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const CreateUpdateQuery = z.object({
  name: shortText(NAME_MAX).default(""),
  columns: columnsParam,
  offer_ids: idsParam.meta({
    description:
      "Offers that the file is about. With a single one, rows may name a conversion by `txid` alone",
  }),
  missing: wordParam("keep", "reject").meta({
    description:
      "`reject` rejects conversions of `offer_ids` from `from` to `to` that no row names. Default `keep`",
  }),
  from: rangeParams.from,
  to: rangeParams.to,
  tz: rangeParams.tz,
  missing_reason: shortText(REASON_MAX)
    .min(1, "expected a reason")
    .optional()
    .meta({ description: "Reason of those rejections. Default `not in the file`" }),
});

const count = z.int().min(0);
const text = z.string();

const shape = {
  id: z.int(),
  name: text,
  status: z.enum(SHOWN_STATUSES),
  message: text,
  columns: ColumnFields,
  offer_ids: z.array(z.int()),
  missing: z.enum(["keep", "reject"]),
  from: shownTime.nullable(),
  to: shownTime.nullable(),
  rows: count,
  rows_done: count,
  counts: z.strictObject({
    changed: count,
    unchanged: count,
    unknown: count,
    refused: count,
    duplicate_row: count,
    undone: count,
    kept: count,
    missing: count,
  }),
  created_by: text,
  created_at: shownTime,
  applied_at: shownTime.nullable(),
  ended_at: shownTime.nullable(),
};

const ShownSum = shownSchema("conversion_update_sum", {
  affiliate_id: z.int().nullable(),
  affiliate_name: text.nullable(),
  currency: shownCurrency,
  rows: count,
  payout_before: shownMoney,
  payout_after: shownMoney,
  revenue_before: shownMoney,
  revenue_after: shownMoney,
}).meta({ id: "ConversionUpdateSum" });

export const ShownUpdate = shownSchema("conversion_update", shape).meta({ id: "ConversionUpdate" });

export const ShownUpdateWithSums = shownSchema("conversion_update", {
  ...shape,
  sums: z.array(ShownSum),
}).meta({ id: "ConversionUpdateWithSums" });

const ShownState = shownSchema("conversion_update_state", {
  status: z.enum(CONVERSION_STATUSES),
  status_reason: text,
  notes: text,
  sale_amount: shownMoney,
  payout: shownMoney,
  revenue: shownMoney,
}).meta({ id: "ConversionUpdateState" });

export const ShownUpdateRow = shownSchema("conversion_update_row", {
  row: z.int(),
  is_missing: z.boolean(),
  outcome: z.enum(OUTCOMES).nullable(),
  conversion_id: z.guid().nullable(),
  fields: z.record(z.string(), z.string()),
  faults: z.record(z.string(), z.string()),
  before: ShownState.nullable(),
  after: ShownState.nullable(),
}).meta({ id: "ConversionUpdateRow" });

const NO_COUNTS = Object.fromEntries([...OUTCOMES, "missing"].map((name) => [name, 0]));

/** As the caller sees it, without sums. */
export function shownUpdate(
  { principal }: OperationContext,
  row: StoredUpdate,
): Record<string, unknown> {
  return showTo(principal.role, "conversion_update", {
    ...row,
    sums: undefined,
    counts: { ...NO_COUNTS, ...row.counts },
  });
}

export async function shownWithSums(
  context: OperationContext,
  row: StoredUpdate,
): Promise<Record<string, unknown>> {
  const { db, principal, workspace } = context;
  const ids = row.sums.flatMap(({ affiliate_id: id }) => (id === null ? [] : [id]));
  const names = await namesOfPartners(db, workspace.id, ids);
  const sums = row.sums.map((sum) =>
    showTo(principal.role, "conversion_update_sum", {
      ...sum,
      affiliate_name: sum.affiliate_id === null ? null : (names.get(sum.affiliate_id) ?? null),
    }),
  );
  return { ...shownUpdate(context, row), sums };
}

export function shownRow(
  { principal }: OperationContext,
  { number, ...row }: StoredUpdateRow,
): Record<string, unknown> {
  const state = (one: StoredUpdateRow["before"]): unknown =>
    one === null ? null : showTo(principal.role, "conversion_update_state", one);
  return showTo(principal.role, "conversion_update_row", {
    ...row,
    row: number,
    before: state(row.before),
    after: state(row.after),
  });
}
