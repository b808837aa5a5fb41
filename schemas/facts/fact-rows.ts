import { z } from "zod";
import { selectRows } from "../clickhouse/select.ts";
import { type FactStores, type Slices, type Span, spanValues } from "./fact-sums.ts";
import type { FactTable } from "./fact-table.ts";

/** The key of a record in both stores. Rows with the same workspace and key replace each other in ClickHouse. */
export type RowKey = {
  readonly id: string;
  readonly atMs: number;
  /** 0 if it is not part of the key. */
  readonly offerId: number;
};

/** A record in one store. Equal digests mean equal contents. */
export type FactRow = RowKey & {
  readonly version: number;
  readonly digest: string;
  readonly currency: string;
  /** Decimal text, by money column of the table. */
  readonly money: readonly string[];
};

const Columns = z.object({
  id_text: z.string(),
  atMs: z.coerce.number(),
  offerId: z.coerce.number(),
  version: z.coerce.number(),
  digest: z.string(),
  currency: z.string(),
  money: z.array(z.string()),
});
const Row = Columns.transform(({ id_text, ...row }): FactRow => ({ id: id_text, ...row }));
const PendingRow = Columns.extend({ isPending: z.boolean() }).transform(
  ({ id_text, ...row }): PostgresFactRow => ({ id: id_text, ...row }),
);
/** A row of Postgres, and whether one of its changes is in the outbox, both from one snapshot. */
export type PostgresFactRow = FactRow & { readonly isPending: boolean };

export function keyText({ id, atMs, offerId }: RowKey): string {
  return `${atMs} ${offerId} ${id}`;
}

/** The rows of one slice of a span, by {@link keyText}. */
export async function clickhouseRows(
  stores: FactStores,
  table: FactTable,
  span: Span,
  slice: { readonly of: Slices; readonly number: number },
): Promise<Map<string, FactRow>> {
  const rows = await selectRows(
    stores.clickhouse,
    {
      name: "facts.rows",
      text: table.clickhouse.rows,
      params: {
        workspace: span.workspaceId,
        from: span.fromMs,
        to: span.toMs,
        slices: slice.of.count,
        slice: slice.number,
      },
    },
    Row,
  );
  return byKey(rows);
}

/** The same of Postgres. */
export async function postgresRows(
  stores: FactStores,
  table: FactTable,
  span: Span,
  slice: { readonly of: Slices; readonly number: number },
): Promise<Map<string, FactRow>> {
  const { rows } = await stores.db.query({
    name: `rows-of-${table.postgres.table}`,
    text: table.postgres.rows,
    values: [...spanValues(span), slice.of.count, slice.number],
  });
  return byKey(z.array(Row).parse(rows));
}

/** Keys in one statement: ClickHouse accepts parameters of up to 128 KiB. */
export const KEYS_MAX = 2_000;

/** The current rows with these keys. */
export async function clickhouseRowsOf(
  stores: FactStores,
  table: FactTable,
  workspaceId: number,
  keys: readonly RowKey[],
): Promise<Map<string, FactRow>> {
  const found = new Map<string, FactRow>();
  for (let from = 0; from < keys.length; from += KEYS_MAX) {
    const rows = await selectRows(
      stores.clickhouse,
      {
        name: "facts.rows-of-keys",
        text: table.clickhouse.rowsOfKeys,
        params: keyParameters(workspaceId, keys.slice(from, from + KEYS_MAX)),
      },
      Row,
    );
    for (const row of rows) found.set(keyText(row), row);
  }
  return found;
}

/** The current rows with these ids, by id. */
export async function postgresRowsOf(
  stores: FactStores,
  table: FactTable,
  ids: readonly string[],
): Promise<Map<string, PostgresFactRow>> {
  const { rows } = await stores.db.query({
    name: `rows-of-${table.postgres.table}-by-id`,
    text: table.postgres.rowsById,
    values: [ids],
  });
  return new Map(
    z
      .array(PendingRow)
      .parse(rows)
      .map((row) => [row.id, row]),
  );
}

/** Parameters of the statements of ClickHouse that take keys. */
export function keyParameters(
  workspaceId: number,
  keys: readonly RowKey[],
): Record<string, unknown> {
  return {
    workspace: workspaceId,
    at_ms: keys.map(({ atMs }) => atMs),
    offers: keys.map(({ offerId }) => offerId),
    ids: keys.map(({ id }) => id),
  };
}

function byKey(rows: readonly FactRow[]): Map<string, FactRow> {
  return new Map(rows.map((row) => [keyText(row), row]));
}
