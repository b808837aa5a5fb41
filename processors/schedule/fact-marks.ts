import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../schemas/clickhouse/select.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A number that rises with every round, and a random token of that round. */
type Mark = { readonly number: number; readonly token: string };
type Marks = { readonly confirmed: Mark; readonly pending: Mark };

const Newest = z.object({ number: z.number(), token: z.string() });

/** The store that went back, if any, and the mark to write to both stores afterwards. */
export type ComparedMarks = {
  readonly wentBack: "postgres" | "clickhouse" | undefined;
  readonly next: Mark;
};

/** Finds the store that lacks a mark of the other store: it was set back to an older state (G206). */
export async function compareMarks(db: Queryable, clickhouse: Clickhouse): Promise<ComparedMarks> {
  const marks = await readMarks(db);
  const [newest = { number: 0, token: "" }] = await selectRows(
    clickhouse,
    {
      name: "processors.fact-mark",
      text: "select number, token from fact_mark final where id = 1",
    },
    Newest,
  );
  const highest = Math.max(marks.confirmed.number, marks.pending.number, newest.number);
  return {
    wentBack: storeThatWentBack(marks, newest),
    next: { number: highest + 1, token: randomUUID() },
  };
}

/**
 * Writes a mark to both stores, after the audit has dealt with a store that went back. If the process dies between two of these
 * statements, a pending mark stays, which counts like a confirmed one.
 */
export async function leaveMark(db: Queryable, clickhouse: Clickhouse, next: Mark): Promise<void> {
  await db.query({
    name: "reserve-fact-mark",
    text: "update fact_mark set pending_number = $1, pending_token = $2 where id = 1",
    values: [next.number, next.token],
  });
  await clickhouse.insert({
    table: "fact_mark",
    values: [{ id: 1, ...next }],
    format: "JSONEachRow",
    clickhouse_settings: { async_insert: 0 },
  });
  await db.query({
    name: "confirm-fact-mark",
    text: `update fact_mark set confirmed_number = pending_number, confirmed_token = pending_token
           where id = 1 and pending_token = $1`,
    values: [next.token],
  });
}

/** `newest` is ClickHouse's mark; its number is 0 if there is none. */
export function storeThatWentBack(
  { confirmed, pending }: Marks,
  newest: Mark,
): "postgres" | "clickhouse" | undefined {
  if (newest.token === confirmed.token || newest.token === pending.token) return undefined;
  return newest.number < confirmed.number ? "clickhouse" : "postgres";
}

async function readMarks(db: Queryable): Promise<Marks> {
  const { rows } = await db.query<{
    confirmed_number: number;
    confirmed_token: string;
    pending_number: number;
    pending_token: string;
  }>({
    name: "read-fact-marks",
    text: "select confirmed_number, confirmed_token, pending_number, pending_token from fact_mark where id = 1",
  });
  const [row] = rows;
  if (row === undefined) throw new Error("fact_mark has no row: run `tracker migrate`");
  return {
    confirmed: { number: row.confirmed_number, token: row.confirmed_token },
    pending: { number: row.pending_number, token: row.pending_token },
  };
}
