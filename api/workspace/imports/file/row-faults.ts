import { z } from "zod";
import { authorize } from "../../../access/authorize.ts";
import { type CalledWith, callOperation } from "../../../http/call-operation.ts";
import { readInput } from "../../../http/request-input.ts";
import { ApiError } from "../../../operation/errors.ts";
import type { FieldFaults, Operation, OperationContext } from "../../../operation/operation.ts";
import type { Caller, ImportedKind, ImportedRow } from "./imported-row.ts";

const Answer = z.looseObject({ data: z.looseObject({ id: z.int().optional() }) });

/** A row that the API refuses. */
export class FaultyRow extends Error {
  override readonly name = "FaultyRow";
  readonly number: number;
  readonly faults: FieldFaults;

  constructor(number: number, faults: FieldFaults, cause?: unknown) {
    super(`row ${number} is refused`, { cause });
    this.number = number;
    this.faults = faults;
  }
}

/** Finds all faults of a row with the schemas and checks of the operations that it needs. Writes nothing. */
export async function faultsOfRow(
  context: OperationContext,
  kind: ImportedKind,
  row: ImportedRow,
): Promise<FieldFaults> {
  // A row that could not be split into columns has no fields, so every field would be reported as missing.
  if (row.faults[""] !== undefined) return row.faults;
  const faults: Record<string, string> = {};
  const ask: Caller = async (operation, given, prefix = "") => {
    try {
      assertMayCall(context, operation, given);
      await readInput(operation, context, {
        path: given.path ?? {},
        query: {},
        body: given.body,
      });
    } catch (error) {
      Object.assign(faults, faultsOfRefusal(error, prefix));
    }
    return row.id;
  };
  await kind.apply(context, row, ask);
  for (const [extra, field] of Object.entries(kind.extras)) {
    // Report one fault only once, under the name that the row uses.
    if (field !== undefined && row.faults[extra] !== undefined) delete faults[field];
  }
  return { ...faults, ...row.faults };
}

/** Runs the operations of a row. @throws {FaultyRow} when the API refuses it. */
export async function writeRow(
  context: OperationContext,
  kind: ImportedKind,
  row: ImportedRow,
): Promise<void> {
  if (Object.keys(row.faults).length > 0) throw new FaultyRow(row.number, row.faults);
  await kind.apply(context, row, async (operation, given, prefix = "") => {
    try {
      assertMayCall(context, operation, given);
      return Answer.parse(await callOperation(context, operation, given)).data.id;
    } catch (error) {
      throw new FaultyRow(row.number, faultsOfRefusal(error, prefix), error);
    }
  });
}

/**
 * Refuses what a request of the same caller would be refused (G03). A person needs a fresh proof of a factor for some fields.
 * @throws {ApiError}
 */
function assertMayCall(
  { principal, isFresh }: OperationContext,
  { access }: Operation,
  { body = {} }: CalledWith,
): void {
  authorize(principal, access);
  const { needsFresh } = access;
  if (isFresh || needsFresh === undefined) return;
  const field = needsFresh === true ? "" : needsFresh.find((name) => name in body);
  if (field === undefined) return;
  throw new ApiError(
    "fresh_sign_in_required",
    "needs a proof of a factor that is at most 10 minutes old when the file is sent",
    { details: { field } },
  );
}

/** @throws the error itself when it is not a refusal. */
function faultsOfRefusal(error: unknown, prefix: string): FieldFaults {
  if (!(error instanceof ApiError) || error.status >= 500) throw error;
  const fields = Object.entries(error.details?.fields ?? {});
  if (fields.length === 0) return { [`${prefix}${error.details?.field ?? ""}`]: error.message };
  return Object.fromEntries(fields.map(([field, fault]) => [`${prefix}${field}`, fault]));
}
