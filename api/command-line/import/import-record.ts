import { createHash } from "node:crypto";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { insertAuditEntry } from "../../access/audit-log.ts";
import type { OperationContext } from "../../operation.ts";
import { byCommandLine } from "../session.ts";
import { textChunks } from "./text-chunks.ts";

const HASH_CHARACTERS = 32;

/**
 * Progress of the import of a file. The transaction that writes rows also records them in the audit log. So even after a kill, the
 * next run of the same file knows exactly which rows were written, and continues after them.
 */
export class ImportRecord {
  readonly #command: string;
  readonly #id: string;

  /** `id` identifies the file by its content; see {@link idOfImport}. */
  constructor(command: string, id: string) {
    this.#command = command;
    this.#id = id;
  }

  /** The last row that an earlier run wrote or left out; 0 without such a run in the last 30 days. */
  async lastRow({ db, workspace }: OperationContext): Promise<number> {
    const { rows } = await db.query<{ last: number | null }>({
      name: "find-import-record",
      text: `select max(substring(action from '-(\\d+)$')::integer) as last from audit_log
             where workspace_id = $1 and ts > now() - interval '30 days' and request_id = $2`,
      values: [workspace.id, this.#id],
    });
    return rows[0]?.last ?? 0;
  }

  /** Records that the rows up to `last` are done, in the transaction that writes them. */
  async note(
    tx: Queryable,
    { workspace }: OperationContext,
    rows: { readonly first: number; readonly last: number },
  ): Promise<void> {
    await insertAuditEntry(tx, {
      principal: byCommandLine(workspace),
      action: `cli ${this.#command} rows ${rows.first}-${rows.last}`,
      ip: null,
      status: 200,
      requestId: this.#id,
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
