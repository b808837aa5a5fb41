import { z } from "zod";
import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Queryable } from "../postgres/connect.ts";

/** What one store says of the installation that it belongs to. */
export type StoreMark = {
  readonly incarnation: string;
  readonly beat: number;
  /** When the beat was counted, as ISO text; "-infinity" before the first. */
  readonly at: string;
};

/** What Postgres says of itself. */
export type PostgresMark = StoreMark & {
  /** Another value after each start of the server, on another server, and in a database that was made anew. */
  readonly life: string;
  /** The life in which ids may be given; `CLOSED_LIFE` after an orderly end; null before the first comparison. */
  readonly verifiedLife: string | null;
};

/** What ClickHouse has recorded about Postgres. */
export type ClickhouseMark = StoreMark & {
  /** The last process had ended: Postgres gave no id after this beat. */
  readonly isClosed: boolean;
};

/** In the place of the life in which ids may be given: there is none until somebody opens the installation again. */
export const CLOSED_LIFE = "closed";

const ClickhouseMark = z.object({
  incarnation: z.string(),
  beat: z.int(),
  at: z.string(),
  isClosed: z.boolean(),
});
const Sequences = z.object({ sequences: z.record(z.string(), z.int()) });
const NO_INCARNATION = "00000000-0000-0000-0000-000000000000";

/** Undefined for a ClickHouse without a record. Beats rise over all incarnations, so that no clock decides which is the newest. */
export async function readClickhouseMark(
  clickhouse: Clickhouse,
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

/** Counts the beat up if the last one is older than `afterMs`; undefined when another process did. */
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

/** Tells ClickHouse. The same mark twice changes nothing. */
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
