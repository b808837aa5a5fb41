import { createHash, type Hash } from "node:crypto";
import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { type AuditEntry, insertAuditEntry } from "../../../access/audit-log.ts";
import type { OperationContext } from "../../../operation/operation.ts";
import type { ImportedKind } from "./imported-row.ts";
import type { ImportFile } from "./source-file.ts";
import { textChunks } from "./text-chunks.ts";

const HASH_CHARACTERS = 32;

/** Another run of the same file has written rows since this run read the record, so this run must not continue. */
export class AnotherRunError extends Error {
  override readonly name = "AnotherRunError";

  constructor() {
    super("another run of this import has written rows");
  }
}

/** Who imports and by which action, for the audit log. */
export type ImportNoter = Pick<AuditEntry, "principal" | "action">;

/**
 * Progress of the import of a file. The transaction that writes rows also records them in the audit log. So even after a kill, the
 * next run of the same file knows exactly which rows were written, and continues after them. If several run at the same time, only one
 * continues: runs write one at a time, and a run that finds another's note stops.
 */
export class ImportRecord {
  readonly #id: string;
  readonly #noter: ImportNoter;
  /** An entry of the audit log: every note of this import up to it is known, and a later note is another run's. */
  #knownUpTo = 0;

  /** `id` identifies the file by its content; see {@link idOfImport}. */
  constructor(id: string, noter: ImportNoter) {
    this.#id = id;
    this.#noter = noter;
  }

  /** The last row that an earlier run wrote or left out; 0 without such a run in the last 30 days. */
  async lastRow({ db, workspace }: Pick<OperationContext, "db" | "workspace">): Promise<number> {
    const found = await inTransaction(db, async (tx) => {
      await this.#lock(tx, workspace.id);
      const { rows } = await tx.query<{ last: number | null; newest: number | null }>({
        name: "find-import-record",
        text: `select max(substring(action from '-(\\d+)$')::integer) as last, (select max(id) from audit_log) as newest
               from audit_log
               where workspace_id = $1 and ts > now() - interval '30 days' and request_id = $2`,
        values: [workspace.id, this.#id],
      });
      return rows[0];
    });
    this.#knownUpTo = found?.newest ?? 0;
    return found?.last ?? 0;
  }

  /** Keeps other runs waiting until the end of the transaction. @throws {AnotherRunError} when one has written since. */
  async begin(tx: Queryable, { workspace }: Pick<OperationContext, "workspace">): Promise<void> {
    await this.#lock(tx, workspace.id);
    const { rows } = await tx.query<{ found: boolean }>({
      name: "has-another-run-written",
      text: `select exists (select from audit_log
               where id > $3 and workspace_id = $1 and request_id = $2) as found`,
      values: [workspace.id, this.#id, this.#knownUpTo],
    });
    if (rows[0]?.found === true) throw new AnotherRunError();
  }

  /** Records that the rows up to `last` are done, in the transaction that writes them. Returns the id of the note. */
  async note(
    tx: Queryable,
    { first, last }: { readonly first: number; readonly last: number },
  ): Promise<number> {
    return await insertAuditEntry(tx, {
      principal: this.#noter.principal,
      action: `${this.#noter.action} rows ${first}-${last}`,
      ip: null,
      status: 200,
      requestId: this.#id,
    });
  }

  /** The transaction of this note is committed. */
  hasNoted(note: number): void {
    this.#knownUpTo = note;
  }

  async #lock(tx: Queryable, workspaceId: number): Promise<void> {
    await tx.query({
      name: "lock-import",
      text: "select pg_advisory_xact_lock(hashtext($1::text), $2::integer)",
      values: [this.#id, workspaceId],
    });
  }
}

type IdentifyingOptions = { readonly kind: ImportedKind; readonly isUpdate: boolean };

/** The same id for the same content and import options. @throws {FileFault} for a file that is not UTF-8. */
export async function idOfImport(
  file: Pick<ImportFile, "name" | "bytes">,
  options: IdentifyingOptions,
): Promise<string> {
  const hash = hashOfImport(options);
  for await (const chunk of textChunks(file)) hash.update(chunk);
  return idOfHash(hash);
}

/** To be updated with the content of the file in UTF-8, without a byte order mark. */
export function hashOfImport({ kind, isUpdate }: IdentifyingOptions): Hash {
  const command = `${kind.noun} import`;
  return createHash("sha256").update(JSON.stringify({ command, isUpdate }));
}

export function idOfHash(hash: Hash): string {
  return `import-${hash.digest("hex").slice(0, HASH_CHARACTERS)}`;
}
