import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Producer } from "../intake/producers.ts";
import type { LostRange } from "../rows/batch.ts";
import type { Range } from "../rows/position-set.ts";

/** Notes about a lane in Postgres, apart from its lease. Keys are `<producer>.<epoch>`. */
export type LaneNotes = {
  readonly lost: ReadonlyMap<string, readonly Range[]>;
  /** Number of settled positions when they were last noted. */
  readonly settled: ReadonlyMap<string, number>;
};

export async function readLaneNotes(db: Queryable, lane: number): Promise<LaneNotes> {
  const lost = await db.query<{ producer: number; epoch: number; from: number; to: number }>({
    name: "read-click-lost",
    text: `select producer, epoch, from_position as "from", to_position as "to" from click_lost
           where lane = $1 order by producer, epoch, from_position`,
    values: [lane],
  });
  const settled = await db.query<{ producer: number; epoch: number; settled: number }>({
    name: "read-click-stored",
    text: "select producer, epoch, settled from click_stored where lane = $1",
    values: [lane],
  });
  const ranges = new Map<string, Range[]>();
  for (const { producer, epoch, from, to } of lost.rows) {
    const key = `${producer}.${epoch}`;
    ranges.set(key, [...(ranges.get(key) ?? []), [from, to]]);
  }
  return {
    lost: ranges,
    settled: new Map(settled.rows.map((row) => [`${row.producer}.${row.epoch}`, row.settled])),
  };
}

/** Safe to repeat: existing notes stay. */
export async function noteLost(
  db: Queryable,
  lane: number,
  ranges: readonly LostRange[],
): Promise<void> {
  await db.query({
    name: "note-click-lost",
    text: `insert into click_lost (lane, producer, epoch, from_position, to_position, reason)
           select $1, producer, epoch, from_position, to_position, reason
           from unnest($2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
             as lost (producer, epoch, from_position, to_position, reason)
           on conflict do nothing`,
    values: [
      lane,
      ranges.map((range) => range.producer),
      ranges.map((range) => range.epoch),
      ranges.map((range) => range.from),
      ranges.map((range) => range.to),
      ranges.map((range) => range.reason),
    ],
  });
}

/** Notes how many positions of each producer are settled, if that has changed since the last note. */
export async function noteProgress(
  db: Queryable,
  lane: number,
  producers: Iterable<Producer>,
): Promise<void> {
  const changed = [...producers].filter(({ settled, notedSize }) => settled.size !== notedSize);
  if (changed.length === 0) return;
  const sizes = changed.map(({ settled }) => settled.size);
  await noteSettled(db, lane, changed, sizes);
  for (const [index, producer] of changed.entries()) {
    producer.notedSize = sizes[index] ?? producer.notedSize;
  }
}

/** Replaces the notes, also by lower numbers after the table lost rows. */
async function noteSettled(
  db: Queryable,
  lane: number,
  producers: readonly Producer[],
  sizes: readonly number[],
): Promise<void> {
  await db.query({
    name: "note-click-stored",
    text: `insert into click_stored (lane, producer, epoch, settled)
           select $1, producer, epoch, settled
           from unnest($2::int[], $3::bigint[], $4::bigint[]) as now (producer, epoch, settled)
           on conflict (lane, producer, epoch) do update
             set settled = excluded.settled, noted_at = now()`,
    values: [lane, producers.map((row) => row.producer), producers.map((row) => row.epoch), sizes],
  });
}
