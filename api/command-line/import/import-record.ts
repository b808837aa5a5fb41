import { createHash } from "node:crypto";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { insertAuditEntry } from "../../access/audit-log.ts";
import type { OperationContext } from "../../operation.ts";
import { CommandError } from "../command-error.ts";
import { byCommandLine } from "../session.ts";
import { textChunks } from "./text-chunks.ts";

const HASH_CHARACTERS = 32;

/**
 * Progress of the import of a file. The transaction that writes rows also records them in the audit log. So even after a kill, the
 * next run of the same file knows exactly which rows were written, and continues after them. Of several runs at the same time only
 * one continues: runs write one at a time, and one that finds a note of another stops.
 */
export class ImportRecord {
  readonly #command: string;
  readonly #id: string;
  /** An entry of the audit log: every note of this import up to it is known, and a later one is of another run. */
  #knownUpTo = 0;

  /** `id` identifies the file by its content; see {@link idOfImport}. */
  constructor(command: string, id: string) {
    this.#command = command;
    this.#id = id;
  }

  /** The last row that an earlier run wrote or left out; 0 without such a run in the last 30 days. */
  async lastRow({ db, workspace }: OperationContext): Promise<number> {
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

  /** Keeps other runs waiting until the end of the transaction. @throws {CommandError} when one has written since. */
  async assertOnlyRun(tx: Queryable, { workspace }: OperationContext): Promise<void> {
    await this.#lock(tx, workspace.id);
    const { rows } = await tx.query<{ found: boolean }>({
      name: "has-another-run-written",
      text: `select exists (select from audit_log
               where id > $3 and workspace_id = $1 and request_id = $2) as found`,
      values: [workspace.id, this.#id, this.#knownUpTo],
    });
    if (rows[0]?.found === true)
      throw new CommandError(
        "Another run of this import has written rows in the meantime, so this one has stopped. " +
          "When the other has ended, run the same command again: it continues where that one was.",
      );
  }

  /** Records that the rows up to `last` are done, in the transaction that writes them. After its commit call `hasNoted`. */
  async note(
    tx: Queryable,
    { workspace }: OperationContext,
    rows: { readonly first: number; readonly last: number },
  ): Promise<number> {
    return await insertAuditEntry(tx, {
      principal: byCommandLine(workspace),
      action: `cli ${this.#command} rows ${rows.first}-${rows.last}`,
      ip: null,
      status: 200,
      requestId: this.#id,
    });
  }

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

/** The same id for the same content and import options. */
export async function idOfImport(
  file: string,
  options: { readonly command: string; readonly isUpdate: boolean },
): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(options));
  for await (const chunk of textChunks(file)) hash.update(chunk);
  return `import-${hash.digest("hex").slice(0, HASH_CHARACTERS)}`;
}
