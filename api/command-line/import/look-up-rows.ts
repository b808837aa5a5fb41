import type { FieldFaults, OperationContext } from "../../operation.ts";
import type { FileRow } from "./file-rows.ts";
import { findCodesOnSharedHosts, foldTexts } from "./find-keys.ts";
import type { ImportedKind, ImportedRow, ResolvedRow } from "./imported-row.ts";

/** Looks up a batch of rows: which records exist already, which ids their names stand for, and which faults follow. */
export async function lookUpRows(
  context: OperationContext,
  kind: ImportedKind,
  rows: readonly FileRow[],
  { isUpdate }: { readonly isUpdate: boolean },
): Promise<ImportedRow[]> {
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
        ...keyFaults(kind, { key, found: found.length, isUpdate }),
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
  { keyField, noun }: ImportedKind,
  row: { readonly key: string | undefined; readonly found: number; readonly isUpdate: boolean },
): FieldFaults {
  if (row.isUpdate && row.key === undefined) {
    return { [keyField]: "required with --update, which matches records by it" };
  }
  if (row.isUpdate && row.found > 1)
    return { [keyField]: `several ${noun}s have it: change them one by one` };
  if (!row.isUpdate && row.found > 0)
    return { [keyField]: `an ${noun} with it exists: --update changes it` };
  return {};
}
