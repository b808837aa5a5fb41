import type { z } from "zod";
import { type ApiError, validationFailed } from "../errors.ts";
import { MORE_FAULTY_ENTRIES } from "./bounded-list.ts";
import { faultsOf } from "./request-input.ts";

/**
 * The refusal of a body with a list that has, already in the beginning of the body, as many faulty entries as are named. Then the rest is not
 * read at all (G213).
 */
export function faultyListIn(schema: z.ZodType, beginning: unknown): ApiError | undefined {
  const { error } = schema.safeParse(beginning);
  const faults = error === undefined ? [] : Object.entries(faultsOf(error, beginning));
  const list = faults.find(([, fault]) => fault === MORE_FAULTY_ENTRIES)?.[0];
  if (list === undefined) return undefined;
  const ofList = faults.filter(([field]) => field === list || field.startsWith(`${list}[`));
  return validationFailed(Object.fromEntries(ofList));
}
