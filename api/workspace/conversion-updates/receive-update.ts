import { ApiError } from "../../operation/errors.ts";
import { FileFault } from "../imports/file/file-fault.ts";
import { fileRows } from "../imports/file/file-rows.ts";
import { RequestYield } from "../imports/file/yield-to-requests.ts";
import { UPDATE_FIELDS } from "./column-names.ts";
import type { AskedUpdate, UpdateSender, UpdateStore } from "./conversion-updates.ts";
import { formOf } from "./file-form.ts";
import { type Columns, RecognisedColumns } from "./recognised-columns.ts";
import { readUpdateRow, type UpdateRow } from "./update-row.ts";

export const UPDATE_ROWS_MAX = 200_000;
/** Rows that are stored at a time. */
const BATCH_ROWS = 2_000;
const FIELD_KINDS = new Map(
  UPDATE_FIELDS.map((field) => [field, { type: "text", isNullable: false } as const]),
);
const NAME_IN_MESSAGES = "The file";

/** A file that arrives, with what its sender says of it. */
export type SentUpdate = AskedUpdate & {
  readonly columns: Columns;
  readonly pieces: AsyncIterable<Uint8Array>;
};

/** What is known of a file once it has arrived. */
export type ReadUpdate = { readonly columns: Columns; readonly lastNumber: number };

/**
 * Stores the rows of a file while it arrives, and leaves nothing behind if it does not arrive whole, or if `begin` leaves it as it is. `begin`
 * makes its check begin.
 * @throws {FileFault} for a file that cannot be read.
 */
export async function receiveUpdate<T>(
  store: UpdateStore,
  sender: UpdateSender,
  { sent, begin }: { readonly sent: SentUpdate; readonly begin: BeginUpdate<T> },
): Promise<T> {
  const id = await store.insert(sender, sent);
  try {
    const columns = new RecognisedColumns(sent.columns);
    let lastNumber = 0;
    for await (const rows of batches(rowsOf(sent, columns))) {
      await store.insertRows(id, rows);
      lastNumber = rows.at(-1)?.number ?? lastNumber;
    }
    if (lastNumber === 0) throw new FileFault(`${NAME_IN_MESSAGES} has no rows.`);
    columns.check();
    return await begin(id, { columns: columns.columns, lastNumber });
  } finally {
    await store.deleteUnread(id).catch(() => {
      // The next round of a runner deletes it.
    });
  }
}

type BeginUpdate<T> = (id: number, read: ReadUpdate) => Promise<T>;

/** Says of a file that cannot be read what is wrong with it. */
export async function asRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileFault) throw new ApiError("invalid_request", error.message);
    throw error;
  }
}

async function* rowsOf(sent: SentUpdate, columns: RecognisedColumns): AsyncGenerator<UpdateRow> {
  const form = await formOf(sent.name, sent.pieces);
  const plan = {
    file: { name: NAME_IN_MESSAGES, ...form },
    fieldKinds: FIELD_KINDS,
    words: { update: "", skipFaulty: "", delimiter: (name: string) => `the delimiter ${name}` },
    fieldOf: (column: string) => columns.fieldOf(column),
  };
  const hasOffer = sent.offerIds.length === 1;
  let count = 0;
  for await (const row of fileRows(plan)) {
    count += 1;
    if (count > UPDATE_ROWS_MAX)
      throw new FileFault(
        `${NAME_IN_MESSAGES} has more than ${UPDATE_ROWS_MAX} rows: split it into several files.`,
      );
    const fields = form.format === "csv" ? row.fields : columns.fieldsOf(row.fields);
    yield readUpdateRow({ ...row, fields }, hasOffer);
  }
}

async function* batches(rows: AsyncIterable<UpdateRow>): AsyncGenerator<UpdateRow[]> {
  const turn = new RequestYield();
  let batch: UpdateRow[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length === BATCH_ROWS) {
      yield batch;
      batch = [];
    }
    await turn.next();
  }
  if (batch.length > 0) yield batch;
}
