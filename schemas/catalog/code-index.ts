/** Ids by a text that is nearly always unique in the installation, lowest id first. */
export class CodeIndex {
  readonly #ids = new Map<string, number | number[]>();

  all(code: string): readonly number[] {
    const ids = this.#ids.get(code);
    if (ids === undefined) return [];
    return typeof ids === "number" ? [ids] : ids;
  }

  add(code: string, id: number): void {
    const ids = this.all(code);
    this.#ids.set(code, ids.length === 0 ? id : [...ids, id].sort((a, b) => a - b));
  }

  remove(code: string | undefined, id: number): void {
    if (code === undefined) return;
    const [first, ...rest] = this.all(code).filter((other) => other !== id);
    if (first === undefined) this.#ids.delete(code);
    else this.#ids.set(code, rest.length === 0 ? first : [first, ...rest]);
  }
}

/** The records with this code (case is ignored) or, if none has it and it is a number, with this id (G25). */
export function recordsByCode<T>(
  index: CodeIndex,
  records: Map<number, T>,
  code: string,
): readonly T[] {
  const ids = index.all(foldCase(code));
  if (ids.length > 0) return ids.flatMap((id) => records.get(id) ?? []);
  if (!/^[1-9]\d{0,9}$/.test(code)) return [];
  const record = records.get(Number(code));
  return record === undefined ? [] : [record];
}

export function foldCase(code: string): string;
export function foldCase(code: string | undefined): string | undefined;
export function foldCase(code: string | undefined): string | undefined {
  return code?.toLowerCase();
}

/** The key of a code that is unique within its workspace. Case is ignored. */
export function codeKey(workspaceId: number, code: string): string {
  return `${workspaceId} ${foldCase(code)}`;
}
