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

const ClickhouseMark = z.object({
  incarnation: z.string(),
  beat: z.int(),
  at: z.string(),
});
const Sequences = z.object({ sequences: z.record(z.string(), z.int()) });
const NO_INCARNATION = "00000000-0000-0000-0000-000000000000";

/** Undefined for a ClickHouse that was never told. */
export async function readClickhouseMark(clickhouse: Clickhouse): Promise<StoreMark | undefined> {
  const answer = await clickhouse.query({
    query: `select toString(argMax(incarnation, marked_at)) as incarnation,
        argMax(beat, (marked_at, beat)) as beat, toString(max(marked_at)) as at
      from installation_mark`,
    format: "JSONEachRow",
  });
  const [mark] = z.array(ClickhouseMark).parse(await answer.json());
  return mark === undefined || mark.incarnation === NO_INCARNATION ? undefined : mark;
}

export async function readPostgresMark(db: Queryable): Promise<StoreMark> {
  const { rows } = await db.query<StoreMark>({
    name: "read-store-mark",
    text: `select incarnation::text as incarnation, beat, beat_at::text as at
           from installation, store_beat`,
  });
  const [mark] = rows;
  if (mark === undefined) throw new Error("Postgres has lost its row of store_beat");
  return mark;
}

/** Highest value that each sequence of Postgres ever had, as far as ClickHouse was told. */
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
): Promise<void> {
  await clickhouse.insert({
    table: "installation_mark",
    values: [{ incarnation, beat, sequences: Object.fromEntries(sequences) }],
    format: "JSONEachRow",
    clickhouse_settings: { async_insert: 0 },
  });
}
