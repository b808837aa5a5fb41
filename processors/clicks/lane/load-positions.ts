import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { Intake } from "../intake/intake.ts";
import { loadClaims } from "../intake/producer-claims.ts";
import type { Producer } from "../intake/producers.ts";
import type { Batch } from "../rows/batch.ts";
import { type Intent, storedShare } from "../rows/intent.ts";
import type { LaneTable } from "../rows/lane-table.ts";
import { PositionSet, type Range } from "../rows/position-set.ts";
import type { ShardServer } from "./home.ts";
import { type LaneNotes, readLaneNotes } from "./lane-notes.ts";
import { type LeftPositions, readLeftPositions } from "./lane-place.ts";
import type { LaneRows } from "./lane-rows.ts";
import { type StoredPositions, selectStoredPositions, storedSet } from "./stored-positions.ts";

/** A producer with fewer records in the table than were noted, or than this process knew to be settled. */
export type Forgotten = {
  readonly producer: number;
  readonly epoch: number;
  readonly records: number;
};

type Stores = { readonly rows: LaneRows; readonly db: Queryable };
type Target = { readonly table: LaneTable; readonly lane: number };

/**
 * Makes the intake agree with the table: stored records are settled, and records that were read but are not stored must still be written.
 * Returns the producers whose records the table has lost (P5). The positions come from all shards that are ready, so they are right also
 * after Postgres was restored. For a shard that the lane has left and that is not ready, the positions noted when it left count.
 *
 * `intent` is the only insert of the lane that may still be committed; undefined if that insert is known to be decided. If no row of it is
 * stored, it becomes the undecided insert of the intake, and what was read here is true only after it was settled. In a cluster this holds
 * even if the insert is stored, because other replicas may not have confirmed it.
 */
export async function loadPositions(
  stores: Stores,
  intake: Intake,
  target: Target & { readonly intent: Intent | undefined },
): Promise<Forgotten[]> {
  const { forgotten, share } = await readPositions(stores, intake, target);
  intake.undecided.intent =
    share === "none" || stores.rows.home.layout === "cluster" ? target.intent : undefined;
  if (share !== "some") return forgotten;
  // The insert was committed, perhaps between two queries, which then saw one producer's rows and not another's. Now it is there.
  const again = await readPositions(stores, intake, target);
  return [...forgotten, ...again.forgotten];
}

async function readPositions(
  stores: Stores,
  intake: Intake,
  target: Target & { readonly intent: Intent | undefined },
): Promise<{ forgotten: Forgotten[]; share: ReturnType<typeof storedShare> }> {
  await loadClaims(stores.rows.home.clickhouse, target.lane, intake.producers);
  const notes = await readLaneNotes(stores.db, target.lane);
  const left = await readLeftPositions(stores.db, target.lane);
  const servers = await stores.rows.everywhere();
  const settledByKey = await settledSets(servers, target, { lost: notes.lost, left });
  // No await from here on: messages that were read meanwhile are in the batches.
  for (const key of [...settledByKey.keys(), ...notes.settled.keys()]) {
    const [producer = 0, epoch = 0] = key.split(".").map(Number);
    intake.producers.get(producer, epoch);
  }
  const forgotten: Forgotten[] = [];
  for (const held of intake.producers.all()) {
    const { producer, epoch, settled: known } = held;
    const set = settledByKey.get(`${producer}.${epoch}`) ?? new PositionSet();
    const noted = notes.settled.get(`${producer}.${epoch}`) ?? 0;
    // Also counts below known.next: above it, an insert with unknown outcome may have added as many rows as are missing.
    const records = Math.max(noted - set.size, known.size - set.sizeBelow(known.next));
    if (records > 0) forgotten.push({ producer, epoch, records });
    held.settled = set;
    held.accepted = new PositionSet(set.next, set.holes);
    held.notedSize = noted;
  }
  applyPositions(intake);
  const { intent } = target;
  const share =
    intent === undefined
      ? "all"
      : storedShare(intent, (producer, epoch) => ({
          settled: settledByKey.get(`${producer}.${epoch}`) ?? new PositionSet(),
          lost: notes.lost.get(`${producer}.${epoch}`) ?? [],
        }));
  return { forgotten, share };
}

/** Positions that are in the table or noted as lost, by `<producer>.<epoch>`. */
async function settledSets(
  servers: readonly ShardServer[],
  target: Target,
  { lost, left }: { readonly lost: LaneNotes["lost"]; readonly left: readonly LeftPositions[] },
): Promise<Map<string, PositionSet>> {
  const sets = new Map<string, PositionSet>();
  const add = (key: string, ranges: readonly Range[]): void => {
    const set = sets.get(key) ?? new PositionSet();
    for (const [from, to] of ranges) set.add(from, to);
    sets.set(key, set);
  };
  for (const [key, ranges] of lost) add(key, ranges);
  for (const { shard, producer, epoch, ranges } of left)
    if (!servers.some((server) => server.shard === shard)) add(`${producer}.${epoch}`, ranges);
  const stored: (StoredPositions & ShardServer)[] = [];
  for (const server of servers)
    for (const one of await selectStoredPositions(server.clickhouse, target.table, target.lane))
      stored.push({ ...one, ...server });
  // A lane that has moved has lower positions on the shard that it left: with these first, the others show no gap.
  for (const one of stored.toSorted((a, b) => a.last - b.last)) {
    const key = `${one.producer}.${one.epoch}`;
    sets.set(key, await storedSet(one.clickhouse, { ...target, stored: one }, sets.get(key)));
  }
  return sets;
}

function applyPositions(intake: Intake): void {
  const { producers } = intake;
  for (const batch of intake.batches) {
    for (const segment of batch.segments) {
      const { accepted, settled } = producers.get(segment.producer, segment.epoch);
      // An insert is stored entirely or not at all, and a segment is never split over two inserts. A stored segment may lack only rows
      // that ClickHouse refused.
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

/** Marks everything in this batch as stored or noted as lost. Returns the producers whose settled positions changed. */
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
    // All records before `end` were read and are settled, so missing ones were lost.
    producer.settled.expect(end);
    touched.add(producer);
  }
  return touched;
}
