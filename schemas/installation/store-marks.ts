import { z } from "zod";
import type { Clickhouse, ClickhouseReader } from "../clickhouse/connect.ts";
import type { Queryable } from "../postgres/connect.ts";

/** The mark in one store, by which the store is compared with the other store. */
export type StoreMark = {
  readonly incarnation: string;
  readonly beat: number;
  /** When the beat was counted, as ISO text; "-infinity" before the first. */
  readonly at: string;
};

/** The mark in Postgres. */
export type PostgresMark = StoreMark & {
  /** Changes with each start of the server, and is different on another server and in a new database. */
  readonly life: string;
  /** The life in which ids may be assigned; `CLOSED_LIFE` after a clean stop; null before the first comparison. */
  readonly verifiedLife: string | null;
};

/** What ClickHouse has recorded about Postgres. */
export type ClickhouseMark = StoreMark & {
  /** After a clean stop: Postgres assigned no id after this beat. */
  readonly isClosed: boolean;
};

/** Value of `verifiedLife` while the installation is stopped: no ids may be assigned until it starts again. */
export const CLOSED_LIFE = "closed";

const ClickhouseMark = z.object({
  incarnation: z.string(),
  beat: z.int(),
  at: z.string(),
  isClosed: z.boolean(),
});
const Sequences = z.object({ sequences: z.record(z.string(), z.int()) });
const NO_INCARNATION = "00000000-0000-0000-0000-000000000000";

/** Undefined for a ClickHouse without a mark. Beats rise across all incarnations, so the newest mark does not depend on a clock. */
export async function readClickhouseMark(
  clickhouse: ClickhouseReader,
): Promise<ClickhouseMark | undefined> {
  const answer = await clickhouse.query({
    query: `select toString(argMax(mark.incarnation, mark.beat)) as incarnation, max(mark.beat) as beat,
        toString(argMax(mark.marked_at, mark.beat)) as at, argMax(mark.is_closed, mark.beat) as isClosed
      from installation_mark as mark`,
    format: "JSONEachRow",
  });
  const [mark] = z.array(ClickhouseMark).parse(await answer.json());
  return mark === undefined || mark.incarnation === NO_INCARNATION ? undefined : mark;
}

export async function readPostgresMark(db: Queryable): Promise<PostgresMark> {
  const { rows } = await db.query<PostgresMark>({
    name: "read-store-mark",
    text: `select incarnation::text as incarnation, beat, beat_at::text as at,
             store_life() as life, verified_life as "verifiedLife"
           from installation, store_beat`,
  });
  const [mark] = rows;
  if (mark === undefined) throw new Error("Postgres has lost its row of store_beat");
  return mark;
}

/** Highest value of each sequence of Postgres that ClickHouse has recorded. */
export async function readMarkedSequences(clickhouse: Clickhouse): Promise<Map<string, number>> {
  const answer = await clickhouse.query({
    query: "select maxMap(sequences) as sequences from installation_mark",
    format: "JSONEachRow",
  });
  const [row] = z.array(Sequences).parse(await answer.json());
  return new Map(Object.entries(row?.sequences ?? {}));
}

/** Raises the beat if the last one is older than `afterMs`; undefined if another process did so. */
export async function countBeat(
  db: Queryable,
  known: StoreMark,
  afterMs: number,
): Promise<StoreMark | undefined> {
  const { rows } = await db.query<{ beat: number; at: string }>({
    name: "count-store-beat",
    text: `update store_beat set beat = beat + 1, beat_at = now()
           where beat = $1 and beat_at < now() - $2 * interval '1 millisecond'
           returning beat, beat_at::text as at`,
    values: [known.beat, afterMs],
  });
  const [counted] = rows;
  return counted && { ...known, ...counted };
}

/** Writes a mark and the sequences into ClickHouse. Writing the same mark twice changes nothing. */
export async function markClickhouse(
  clickhouse: Clickhouse,
  { incarnation, beat }: Pick<StoreMark, "incarnation" | "beat">,
  sequences: ReadonlyMap<string, number>,
  isClosed = false,
): Promise<void> {
  await clickhouse.insert({
    table: "installation_mark",
    values: [{ incarnation, beat, sequences: Object.fromEntries(sequences), is_closed: isClosed }],
    format: "JSONEachRow",
    clickhouse_settings: { async_insert: 0 },
  });
}
