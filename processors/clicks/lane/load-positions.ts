import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Batch } from "../intake/batch.ts";
import type { Intake } from "../intake/intake.ts";
import { PositionSet } from "../intake/position-set.ts";
import { loadClaims } from "../intake/producer-claims.ts";
import type { Producer } from "../intake/producers.ts";
import { type LaneNotes, readLaneNotes } from "./lane-notes.ts";
import type { LaneTable } from "./lane-table.ts";
import { selectStoredPositions, storedSet } from "./stored-positions.ts";

/** A producer of which the table holds less than it once did. */
export type Forgotten = {
  readonly producer: number;
  readonly epoch: number;
  readonly records: number;
};

/**
 * Makes the intake agree with the table: what is there is settled, and what was read but is not there is still to be
 * written. Answers what the table has forgotten, by what was noted of it (P5).
 */
export async function loadPositions(
  stores: { readonly clickhouse: Clickhouse; readonly db: Queryable },
  intake: Intake,
  place: { readonly table: LaneTable; readonly lane: number },
): Promise<Forgotten[]> {
  await loadClaims(stores.clickhouse, place.lane, intake.producers);
  const notes = await readLaneNotes(stores.db, place.lane);
  const settled = await settledSets(stores.clickhouse, place, notes.lost);
  // From here on nothing waits: messages that were read meanwhile are in the batches.
  for (const key of [...settled.keys(), ...notes.settled.keys()]) {
    const [producer = 0, epoch = 0] = key.split(".").map(Number);
    intake.producers.get(producer, epoch);
  }
  const forgotten: Forgotten[] = [];
  for (const of of intake.producers.all()) {
    const { producer, epoch } = of;
    const set = settled.get(`${producer}.${epoch}`) ?? new PositionSet();
    const noted = notes.settled.get(`${producer}.${epoch}`) ?? 0;
    // By position: an insert of unknown outcome may have added as many as are missing.
    const { settled: known } = of;
    const records = Math.max(noted - set.size, known.size - set.sizeBelow(known.next));
    if (records > 0) forgotten.push({ producer, epoch, records });
    of.settled = set;
    of.accepted = new PositionSet(set.next, set.holes);
    of.notedSize = noted;
  }
  keepWhatIsMissing(intake);
  return forgotten;
}

/** What is in the table or noted as lost, by `<producer>.<epoch>`. */
async function settledSets(
  clickhouse: Clickhouse,
  place: { readonly table: LaneTable; readonly lane: number },
  lost: LaneNotes["lost"],
): Promise<Map<string, PositionSet>> {
  const sets = new Map<string, PositionSet>();
  for (const [key, ranges] of lost) {
    const set = new PositionSet();
    for (const [from, to] of ranges) set.add(from, to);
    sets.set(key, set);
  }
  for (const stored of await selectStoredPositions(clickhouse, place.table, place.lane)) {
    const key = `${stored.producer}.${stored.epoch}`;
    sets.set(key, await storedSet(clickhouse, { ...place, stored }, lost.get(key) ?? []));
  }
  return sets;
}

function keepWhatIsMissing(intake: Intake): void {
  const { producers } = intake;
  for (const batch of intake.batches) {
    for (const segment of batch.segments) {
      const { accepted, settled } = producers.get(segment.producer, segment.epoch);
      // An insert is there whole or not at all, and a segment is never divided over two. Only rows that ClickHouse refused
      // may be missing in one that is there.
      segment.isStored = settled.hasAny(segment.from, segment.to);
      accepted.add(segment.from, segment.to);
    }
    for (const { producer, epoch, from, to } of batch.lost) {
      producers.get(producer, epoch).accepted.add(from, to);
    }
    for (const { producer, epoch, end } of batch.expected) {
      producers.get(producer, epoch).accepted.expect(end);
    }
  }
}

/** Everything in this batch is in the table, or noted as lost. Answers whose sequences went on. */
export function settle(intake: Intake, batch: Batch): Set<Producer> {
  const touched = new Set<Producer>();
  for (const segment of batch.segments) {
    segment.isStored = true;
    const producer = intake.producers.get(segment.producer, segment.epoch);
    producer.settled.add(segment.from, segment.to);
    touched.add(producer);
  }
  for (const range of batch.lost) {
    const producer = intake.producers.get(range.producer, range.epoch);
    producer.settled.add(range.from, range.to);
    touched.add(producer);
  }
  for (const { producer: number, epoch, end } of batch.expected) {
    const producer = intake.producers.get(number, epoch);
    // Everything before was read and is settled by now, so that what is absent did not come.
    producer.settled.expect(end);
    touched.add(producer);
  }
  return touched;
}
