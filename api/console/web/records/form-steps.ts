import { type Draft, isAt, leafPaths } from "./form-draft.ts";
import type { FormField } from "./form-field.ts";

/** A part of a form that is filled in one after the other. */
export type FormStep = {
  readonly name: string;
  readonly title: string;
  /** What the part decides, in a sentence. */
  readonly about?: string | undefined;
  readonly fields: readonly FormField[];
};

/** How many of the faults are at fields of the step. */
export function faultsIn(
  { fields }: FormStep,
  draft: Draft,
  faults: Readonly<Record<string, string>>,
): number {
  const paths = [...fields.map(({ name }) => name), ...leafPaths(fields, draft)];
  return Object.keys(faults).filter((name) => paths.some((path) => isAt(name, path))).length;
}
