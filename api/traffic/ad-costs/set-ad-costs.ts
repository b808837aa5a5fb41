import { z } from "zod";
import { adminWrite } from "../../access/access-of-operations.ts";
import { FAULTY_ENTRIES_MAX, listOf } from "../../fields/bounded-list.ts";
import { recordReference } from "../../fields/catalog-fields.ts";
import { faultsOf } from "../../http/request-input.ts";
import type { Reference } from "../../operation/codes.ts";
import { validationFailed } from "../../operation/errors.ts";
import { asObject } from "../../operation/json-object.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import { AdCostRow, LIST_OF_COSTS, StrictCosts } from "./ad-cost-fields.ts";
import { type AdCost, findNamedAffiliates, findNamedOffers, saveAdCosts } from "./ad-costs.ts";
import { csvCosts } from "./csv-costs.ts";

/** Rows whose references are looked up at once. */
const PART_ROWS = 500;

const { $schema: _dialect, ...rowSchema } = z.toJSONSchema(AdCostRow, {
  io: "input",
  unrepresentable: "any",
});
const EXAMPLE = {
  date: "2025-01-31",
  offer_id: "SUMMER",
  traffic_source: "google",
  ext_campaign_id: "1234567890",
  currency: "USD",
  amount: "25.40",
};

/** Each row is validated separately, so that an invalid row does not block the others. OpenAPI still shows the schema of a row. */
const Body = z.strictObject({
  rows: listOf(z.unknown().meta({ ...rowSchema, examples: [EXAMPLE] }), LIST_OF_COSTS).min(
    1,
    "expected a cost",
  ),
});

const Rejected = z.strictObject({
  row: z.int().meta({ description: "The first row is 1; a header line is not counted" }),
  fields: z.record(z.string(), z.string()).meta({ description: "What is wrong, by field" }),
});

export const setAdCosts: Operation = operation({
  name: "setAdCosts",
  method: "POST",
  path: "/ad-costs",
  tag: "Management",
  summary: "Set ad costs",
  description:
    "Up to 10,000 rows. Invalid rows are reported by number and the others are stored; with 100 invalid rows or more nothing is. The body is `{rows: […]}`, or text/csv with a header line that names the columns in any order. An empty cell is a field left " +
    "out. All fields except the amount identify a cost. Send a cost again to change its amount, or with the amount 0 to cancel it. " +
    "A cost that a call contains twice is reported and not stored: add the amounts. `offer_id` and `affiliate_id` accept an id or a code. Date and hour are " +
    "taken as the ad platform states them, without a time zone: reports show the cost on that date in any `tz`. All valid rows of " +
    "a call are written in one transaction.",
  access: adminWrite("conversions.write"),
  input: { body: Body },
  strictBody: StrictCosts,
  csvBody: csvCosts,
  output: z.object({
    data: z.strictObject({
      inserted: z.int(),
      updated: z.int(),
      rejected: z.array(Rejected),
    }),
  }),
  status: 201,
  run: async (context, { body }) => {
    const { read, rejected } = await validateRows(context, body.rows);
    const costs = refuseRepeated(read, rejected);
    const saved = await saveAdCosts(context.db, context.workspace.id, costs);
    const inOrder = rejected.toSorted((a, b) => a.row - b.row);
    return { body: { data: { ...saved, rejected: inOrder } } };
  },
});

type ValidatedRows = {
  readonly read: NumberedCost[];
  readonly rejected: RejectedRow[];
};
/** The first row is 1. */
type NumberedCost = { readonly row: number; readonly cost: AdCost };
type RejectedRow = z.infer<typeof Rejected>;

/** A row by its form alone. */
type ReadRow = {
  /** Undefined for a row with faults. */
  readonly cost: AdCostRow | undefined;
  readonly faults: FieldFaults;
  readonly references: Readonly<Record<ReferenceField, Reference | null | undefined>>;
};
type ReferenceField = "offer_id" | "affiliate_id";

/** Reports faults of form and unknown references together. @throws {ApiError} for too many wrong rows. */
async function validateRows(
  context: OperationContext,
  rows: readonly unknown[],
): Promise<ValidatedRows> {
  const validated: ValidatedRows = { read: [], rejected: [] };
  // In parts: nothing is looked up for the rows behind the hundredth wrong one.
  for (let from = 0; from < rows.length; from += PART_ROWS)
    await validatePart(context, { rows: rows.slice(from, from + PART_ROWS), from }, validated);
  return validated;
}

async function validatePart(
  { db, workspace }: OperationContext,
  { rows, from }: { readonly rows: readonly unknown[]; readonly from: number },
  { read, rejected }: ValidatedRows,
): Promise<void> {
  const forms = rows.map(readRow);
  const offers = await findNamedOffers(db, workspace.id, referencesIn(forms, "offer_id"));
  const affiliates = await findNamedAffiliates(
    db,
    workspace.id,
    referencesIn(forms, "affiliate_id"),
  );
  for (const [index, row] of forms.entries()) {
    const unknown: FieldFaults = {
      ...unknownReference(row, "offer_id", offers),
      ...unknownReference(row, "affiliate_id", affiliates),
    };
    if (row.cost === undefined || Object.keys(unknown).length > 0) {
      addRejected(rejected, { row: from + index + 1, fields: { ...unknown, ...row.faults } });
      continue;
    }
    const { offer_id, affiliate_id, ...cost } = row.cost;
    const offer = offer_id === null ? undefined : offers.get(offer_id.code);
    read.push({
      row: from + index + 1,
      cost: {
        ...cost,
        offer_id: offer?.id ?? null,
        advertiser_id: offer?.advertiser_id ?? null,
        affiliate_id: affiliate_id === null ? null : (affiliates.get(affiliate_id.code) ?? null),
      },
    });
  }
}

function readRow(row: unknown): ReadRow {
  const parsed = AdCostRow.safeParse(row);
  if (parsed.success) return { cost: parsed.data, faults: {}, references: parsed.data };
  const fields = asObject(row);
  return {
    cost: undefined,
    faults: formFaults(parsed.error, row),
    references: {
      offer_id: recordReference.safeParse(fields["offer_id"]).data,
      affiliate_id: recordReference.safeParse(fields["affiliate_id"]).data,
    },
  };
}

/** @throws {ApiError} if there are now too many (G213). */
function addRejected(rejected: RejectedRow[], row: RejectedRow): void {
  rejected.push(row);
  if (rejected.length < FAULTY_ENTRIES_MAX) return;
  const faults = rejected.flatMap(({ row: number, fields }) =>
    Object.entries(fields).map(([field, fault]): [string, string] => [
      `rows[${number - 1}].${field}`,
      fault,
    ]),
  );
  throw validationFailed({
    rows: `${FAULTY_ENTRIES_MAX} costs or more are wrong, so none is stored`,
    ...Object.fromEntries(faults),
  });
}

/** A row that is not an object has no fields, so the fault is reported for the row itself. */
function formFaults(error: z.ZodError, row: unknown): FieldFaults {
  const faults = faultsOf(error, row);
  return typeof row === "object" && row !== null && !Array.isArray(row)
    ? faults
    : { row: "expected an object" };
}

function referencesIn(rows: readonly ReadRow[], field: ReferenceField): Reference[] {
  const found = rows.flatMap(({ references }) => references[field] ?? []);
  return [...new Map(found.map((reference) => [reference.code, reference])).values()];
}

function unknownReference(
  { references }: ReadRow,
  field: ReferenceField,
  known: ReadonlyMap<string, unknown>,
): FieldFaults {
  const reference = references[field] ?? undefined;
  if (reference === undefined || known.has(reference.code)) return {};
  return { [field]: field === "offer_id" ? "no such offer" : "no such affiliate" };
}

/**
 * The costs that occur once. All rows of a repeated cost are rejected: one of their amounts alone would be too little, and whether they are
 * two costs or one that was sent twice is not known here (G253). @throws {ApiError} if too many rows are now wrong.
 */
function refuseRepeated(read: readonly NumberedCost[], rejected: RejectedRow[]): AdCost[] {
  const rowsOf = new Map<string, number[]>();
  for (const { row, cost } of read) {
    const key = keyOf(cost);
    const rows = rowsOf.get(key);
    if (rows === undefined) rowsOf.set(key, [row]);
    else rows.push(row);
  }
  return read.flatMap(({ row, cost }) => {
    const other = rowsOf.get(keyOf(cost))?.find((one) => one !== row);
    if (other === undefined) return [cost];
    addRejected(rejected, {
      row,
      fields: {
        row: `is the same cost as row ${other}: send one row with the sum of their amounts`,
      },
    });
    return [];
  });
}

/** All but the amount. Rows from the schema all have the same fields in the same order, so equal keys give equal text. */
function keyOf({ amount: _amount, ...key }: AdCost): string {
  return JSON.stringify(key);
}
