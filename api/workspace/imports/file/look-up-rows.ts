import type { FieldFaults, OperationContext } from "../../../operation/operation.ts";
import type { FileRow } from "./file-row.ts";
import { findCodesOnSharedHosts, foldTexts } from "./find-keys.ts";
import type { ImportPlan } from "./import-plan.ts";
import type { ImportedKind, ImportedRow, ResolvedRow } from "./imported-row.ts";

/** Looks up a batch of rows: which records exist already, which ids their names stand for, and which faults follow. */
export async function lookUpRows(
  context: OperationContext,
  plan: Pick<ImportPlan, "kind" | "isUpdate" | "words">,
  rows: readonly FileRow[],
): Promise<ImportedRow[]> {
  const { kind } = plan;
  const resolved = await kind.resolve(context, rows);
  const folded = await foldTexts(
    context,
    resolved.flatMap((row) => givenKey(kind, row) ?? []),
  );
  const keys = [...new Set(folded.values())];
  const ids = new Map<string, number[]>();
  for (const { id, key } of await kind.findByKeys(context, keys)) {
    ids.set(key, [...(ids.get(key) ?? []), id]);
  }
  const codesOnSharedHosts =
    kind.keyField === "code"
      ? await findCodesOnSharedHosts(context, kind.noun, keys)
      : new Set<string>();
  return resolved.map((row, index) => {
    const given = givenKey(kind, row);
    const key = given === undefined ? undefined : folded.get(given);
    const found = key === undefined ? [] : (ids.get(key) ?? []);
    const fault = rows[index]?.fault;
    return {
      ...row,
      key,
      id: found[0],
      faults: {
        ...row.faults,
        ...keyFaults(plan, { key, found: found.length }),
        ...(found.length === 0 && codesOnSharedHosts.has(key ?? "")
          ? { [kind.keyField]: "a workspace on the same host has this code" }
          : {}),
        ...(fault === undefined ? {} : { "": fault }),
      },
    };
  });
}

function givenKey({ keyField }: ImportedKind, { body }: ResolvedRow): string | undefined {
  const key = body[keyField];
  return typeof key === "string" ? key : undefined;
}

function keyFaults(
  { kind: { keyField, noun }, isUpdate, words }: Pick<ImportPlan, "kind" | "isUpdate" | "words">,
  row: { readonly key: string | undefined; readonly found: number },
): FieldFaults {
  if (isUpdate && row.key === undefined) {
    return { [keyField]: `required with ${words.update}, which matches records by it` };
  }
  if (isUpdate && row.found > 1)
    return { [keyField]: `several ${noun}s have it: change them one by one` };
  if (!isUpdate && row.found > 0)
    return { [keyField]: `an ${noun} with it exists: ${words.update} changes it` };
  return {};
}
