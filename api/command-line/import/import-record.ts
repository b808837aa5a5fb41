import { createHash } from "node:crypto";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { insertAuditEntry } from "../../access/audit-log.ts";
import type { OperationContext } from "../../operation.ts";
import { byCommandLine } from "../session.ts";
import { textChunks } from "./text-chunks.ts";

const HASH_CHARACTERS = 32;

/**
 * How far the import of a file has come. It is noted in the audit log within the transaction that writes the rows, so an
 * import that was killed knows exactly what it has written: the next run of the same file goes on behind that.
 */
export class ImportRecord {
  readonly #command: string;
  readonly #id: string;

  /** `id` tells the file by its content; see {@link idOfImport}. */
  constructor(command: string, id: string) {
    this.#command = command;
    this.#id = id;
  }

  /** The last row that an earlier run has written or left out; 0 without one in the last days. */
  async lastRow({ db, workspace }: OperationContext): Promise<number> {
    const { rows } = await db.query<{ last: number | null }>({
      name: "find-import-record",
      text: `select max(substring(action from '-(\\d+)$')::integer) as last from audit_log
             where workspace_id = $1 and ts > now() - interval '30 days' and request_id = $2`,
      values: [workspace.id, this.#id],
    });
    return rows[0]?.last ?? 0;
  }

  /** Notes that the rows up to `last` are done, beside the rows. */
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

/** The same for the same content and way of importing. */
export async function idOfImport(
  file: string,
  way: { readonly command: string; readonly isUpdate: boolean },
): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(way));
  for await (const chunk of textChunks(file)) hash.update(chunk);
  return `import-${hash.digest("hex").slice(0, HASH_CHARACTERS)}`;
}
