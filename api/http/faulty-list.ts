import type { z } from "zod";
import { MORE_FAULTY_ENTRIES } from "../fields/bounded-list.ts";
import { validationFailed } from "../operation/errors.ts";
import { faultsBy } from "./request-input.ts";

/**
 * Refuses a body with a list that has, already in the beginning of the body, as many faulty entries as are named. Then the rest is not read at
 * all (G213). @throws {ApiError} `validation_failed`
 */
export function refuseFaultyList(schema: z.ZodType, beginning: unknown): void {
  const faults = Object.entries(faultsBy(schema, beginning));
  const list = faults.find(([, fault]) => fault === MORE_FAULTY_ENTRIES)?.[0];
  if (list === undefined) return;
  const ofList = faults.filter(([field]) => field === list || field.startsWith(`${list}[`));
  throw validationFailed(Object.fromEntries(ofList));
}
