import { CodeIndex, codeKey } from "./code-index.ts";

type Coded = { readonly id: number; readonly workspace_id: number; readonly code: string };

/** Records whose code is unique within their workspace. Many workspaces may use the same code. Case is ignored. */
export class CodedRecords<T extends Coded> {
  readonly #records = new Map<number, T>();
  readonly #idsByCode = new CodeIndex();
  #hyphened = 0;

  get byId(): ReadonlyMap<number, T> {
    return this.#records;
  }

  /** Whether some code contains a hyphen. */
  get hasHyphens(): boolean {
    return this.#hyphened > 0;
  }

  byCode(workspaceId: number, code: string): T | undefined {
    const [id] = this.#idsByCode.all(codeKey(workspaceId, code));
    return id === undefined ? undefined : this.#records.get(id);
  }

  add(record: T): void {
    this.#records.set(record.id, record);
    this.#idsByCode.add(codeKey(record.workspace_id, record.code), record.id);
    if (record.code.includes("-")) this.#hyphened += 1;
  }

  remove(id: number): void {
    const record = this.#records.get(id);
    if (record === undefined) return;
    this.#idsByCode.remove(codeKey(record.workspace_id, record.code), id);
    if (record.code.includes("-")) this.#hyphened -= 1;
    this.#records.delete(id);
  }
}
