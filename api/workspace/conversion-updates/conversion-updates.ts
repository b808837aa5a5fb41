import type { Pool, Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { ApiError } from "../../operation/errors.ts";
import { keyIdOf, type Principal } from "../../operation/principal.ts";
import type { Columns } from "./recognised-columns.ts";
import type { UpdateRow } from "./update-row.ts";

/** Files of a workspace whose rows go on being read, checked, applied or undone. */
export const OPEN_UPDATES_MAX = 5;
/** Files that are checked and wait for somebody. The oldest makes room for a new one. */
const CHECKED_MAX = 10;

/** What a file is about, beside its rows. */
export type AskedUpdate = {
  readonly name: string;
  /** By default every row names its offer. With one offer, rows may leave it out. */
  readonly offerIds: readonly number[];
  readonly missing: "keep" | "reject";
  readonly missingFromMs: number | undefined;
  readonly missingToMs: number | undefined;
  readonly missingReason: string;
};

/** Who asks for a phase of an update. */
export type UpdateSender = { readonly principal: Principal; readonly requestId: string };

/** Updates by file as they are stored. */
export class UpdateStore {
  readonly #db: Pool;

  constructor(db: Pool) {
    this.#db = db;
  }

  /** An update whose rows are about to arrive. @throws {ApiError} `conflict` if too many go on. */
  async insert({ principal, requestId }: UpdateSender, asked: AskedUpdate): Promise<number> {
    const { workspace, actor } = principal;
    return await inTransaction(this.#db, async (tx) => {
      await makeRoom(tx, workspace.id);
      const { rows } = await tx.query<{ id: number }>({
        name: "insert-conversion-update",
        text: `insert into conversion_update (workspace_id, name, offer_ids, missing, missing_from, missing_to, missing_reason, key_id,
                 person_id, request_id, created_by)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning id`,
        values: [
          workspace.id,
          asked.name,
          asked.offerIds,
          asked.missing,
          isoTime(asked.missingFromMs),
          isoTime(asked.missingToMs),
          asked.missingReason,
          keyIdOf(actor),
          actor.kind === "person" ? actor.id : null,
          requestId,
          actor.name,
        ],
      });
      const id = rows[0]?.id;
      if (id === undefined) throw new Error("an update was inserted without an id");
      return id;
    });
  }

  async insertRows(id: number, rows: readonly UpdateRow[]): Promise<void> {
    await this.#db.query({
      name: "insert-conversion-update-rows",
      text: `insert into conversion_update_row (update_id, number, fields, faults, outcome)
             select $1, r.number, r.fields, r.faults, case when r.faults <> '{}' then 'refused' end
             from jsonb_to_recordset($2::jsonb) as r(number integer, fields jsonb, faults jsonb)`,
      values: [id, JSON.stringify(rows)],
    });
  }

  /** The file has arrived whole. */
  async begin(
    id: number,
    { columns, lastNumber }: { readonly columns: Columns; readonly lastNumber: number },
  ): Promise<void> {
    const { rowCount } = await this.#db.query({
      name: "begin-conversion-update",
      text: `update conversion_update set status = 'checking', columns = $2, last_number = $3 where id = $1 and status = 'reading'`,
      values: [id, JSON.stringify(columns), lastNumber],
    });
    if (rowCount === 0) throw new Error("an update was deleted while its file arrived");
  }

  async deleteUnread(id: number): Promise<void> {
    await this.#db.query({
      name: "delete-unread-conversion-update",
      text: "delete from conversion_update where id = $1 and status = 'reading'",
      values: [id],
    });
  }
}

/** Makes the files of a workspace begin one after the other, so that the bounds hold. */
async function makeRoom(tx: Queryable, workspaceId: number): Promise<void> {
  await tx.query({
    name: "lock-conversion-updates",
    text: "select pg_advisory_xact_lock(hashtextextended($1, 0))",
    values: [`conversion updates of ${workspaceId}`],
  });
  const { rows } = await tx.query<{ count: number }>({
    name: "count-open-conversion-updates",
    text: `select count(*)::integer as count from conversion_update
           where workspace_id = $1 and status in ('reading', 'checking', 'applying', 'undoing')`,
    values: [workspaceId],
  });
  if ((rows[0]?.count ?? 0) >= OPEN_UPDATES_MAX)
    throw new ApiError(
      "conflict",
      `${OPEN_UPDATES_MAX} files of this workspace have not ended: wait for one of them, or stop it`,
    );
  await tx.query({
    name: "delete-old-checked-conversion-updates",
    text: `delete from conversion_update where id in (
             select id from conversion_update where workspace_id = $1 and status = 'checked' order by id desc offset $2)`,
    values: [workspaceId, CHECKED_MAX - 1],
  });
}

function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
