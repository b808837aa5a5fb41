import { z } from "zod";
import { allShards } from "../clickhouse/all-shards.ts";
import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Nats } from "../nats/connect.ts";
import { oldestClickMessageMs } from "../nats/oldest-click.ts";
import type { Queryable } from "../postgres/connect.ts";
import { isWhole, type NotedPositions, type StoredPositions } from "./whole-positions.ts";

/**
 * How long nothing of a number must have been at work before it may be given out again. Longer than the 48 h for which a missing click may
 * still be in a journal, and than the 72 h for which the click writers remember that a producer was given up. A journal that returns
 * within a week keeps its number.
 */
const QUIET_HOURS = 168;
/** The clocks of Postgres and NATS may differ by less than this. */
const CLOCK_MARGIN_MS = 3_600_000;
/** ClickHouse gets them in the address of the request. */
const NUMBERS_PER_STATEMENT = 1_000;
const SCAN_SECONDS_MAX = 300;
const NUMBERS_MAX = 65_535;

export type ProducerNumbers = {
  /** Never given out. */
  readonly fresh: number;
  /** Proven free, so that they may be given out again. */
  readonly free: number;
};

/** What a round has found. */
export type FreedProducers = {
  /** Numbers that may be given out again from now on. */
  readonly freed: readonly number[];
  /** Quiet for long enough, but rows, positions and notes of losses differ. `tracker audit` names them. */
  readonly differing: readonly number[];
  /** The stream still has messages from the time before they became quiet. */
  readonly inStream: number;
};

type Candidate = {
  readonly producer: number;
  readonly quietSinceMs: number;
  readonly runEpoch: number;
};

const Candidates = z.array(
  z.object({ producer: z.int(), quietSinceMs: z.int(), runEpoch: z.int() }),
);
const Stored = z.array(
  z.object({
    lane: z.int(),
    producer: z.int(),
    epoch: z.int(),
    rows: z.int(),
    end: z.int(),
  }),
);
/** The projection `positions` answers this: a row for each part and producer, however large the tables are. */
const storedQuery = (clickhouse: Clickhouse): string => `
  select _lane as lane, _producer as producer, _epoch as epoch, count() as rows, max(_position) + 1 as end
  from ${allShards(clickhouse, "click")} where _producer in {producers: Array(UInt16)} group by _lane, _producer, _epoch
  union all
  select _lane as lane, _producer as producer, _epoch as epoch, count() as rows, max(_position) + 1 as end
  from ${allShards(clickhouse, "impression")} where _producer in {producers: Array(UInt16)} group by _lane, _producer, _epoch`;
const Claimed = z.array(z.object({ producer: z.int(), epoch: z.int() }));

/**
 * Looks for producer numbers that may be given out again, and notes the proof: the holder ended or was given up, and is quiet for a week; the
 * stream has no message from before; and every known position of the number is stored or noted as lost, in every lane. A journal folder that
 * returns later does not have the nonce of the number's next holder, so it is refused and takes a new number; its epochs, and so its
 * positions, are others. Safe to repeat, and to run in several processes at once.
 * `quietHours` is for tests. @throws what the drivers throw; what was noted stays.
 */
export async function proveFreeProducers(stores: {
  readonly db: Queryable;
  readonly clickhouse: Clickhouse;
  readonly nats: Nats;
  readonly quietHours?: number;
}): Promise<FreedProducers> {
  const { db, clickhouse, nats, quietHours = QUIET_HOURS } = stores;
  await noteQuiet(db);
  const oldestMs = await oldestClickMessageMs(nats);
  const freed: number[] = [];
  const differing: number[] = [];
  let inStream = 0;
  // There are at most 65,535 numbers, so this ends.
  for (let after = 0; ; ) {
    const candidates = await readCandidates(db, { quietHours, after });
    const last = candidates.at(-1);
    if (last === undefined) return { freed, differing, inStream };
    after = last.producer;
    const gone = candidates.filter((one) => one.quietSinceMs + CLOCK_MARGIN_MS < oldestMs);
    inStream += candidates.length - gone.length;
    const judged = await judge({ db, clickhouse }, gone);
    differing.push(...judged.differing);
    freed.push(...(await noteFree(db, judged.whole)));
  }
}

/** How many numbers can still be given out. */
export async function readProducerNumbers(db: Queryable): Promise<ProducerNumbers> {
  const { rows } = await db.query<ProducerNumbers>({
    name: "read-producer-numbers",
    text: `select $1 - (select last_value from ingress_producer_id_seq)::integer as fresh,
             (select count(*) from ingress_producer where free_at is not null)::integer as free`,
    values: [NUMBERS_MAX],
  });
  return rows[0] ?? { fresh: 0, free: 0 };
}

/** After a restore nothing is proven: rows may be gone, and numbers were given out that Postgres does not know. Returns how many were. */
export async function forgetFreeProducers(db: Queryable): Promise<number> {
  const { rowCount } = await db.query({
    name: "forget-free-producers",
    text: "update ingress_producer set quiet_since = null, free_at = null where quiet_since is not null",
  });
  return rowCount ?? 0;
}

/** A holder that is at work again is no longer quiet, and its number no longer free. */
async function noteQuiet(db: Queryable): Promise<void> {
  await db.query({
    name: "note-quiet-producers",
    text: `update ingress_producer p
           set quiet_since = case when is_producer_quiet(p) then now() end, free_at = null
           where is_producer_quiet(p) <> (p.quiet_since is not null)`,
  });
}

async function readCandidates(
  db: Queryable,
  { quietHours, after }: { readonly quietHours: number; readonly after: number },
): Promise<Candidate[]> {
  const { rows } = await db.query({
    name: "read-quiet-producers",
    text: `select id as producer, (extract(epoch from quiet_since) * 1000)::bigint as "quietSinceMs",
             coalesce(run_epoch, 0) as "runEpoch"
           from ingress_producer
           where free_at is null and quiet_since < now() - $1 * interval '1 hour' and id > $2
           order by id limit $3`,
    values: [quietHours, after, NUMBERS_PER_STATEMENT],
  });
  return Candidates.parse(rows);
}

type Judged = {
  readonly whole: readonly (Candidate & { readonly lastEpoch: number })[];
  readonly differing: readonly number[];
};

async function judge(
  { db, clickhouse }: { readonly db: Queryable; readonly clickhouse: Clickhouse },
  candidates: readonly Candidate[],
): Promise<Judged> {
  const producers = candidates.map(({ producer }) => producer);
  if (producers.length === 0) return { whole: [], differing: [] };
  // The notes first: what is noted as stored is in the table.
  const noted = byProducer(await readNotes(db, producers));
  const stored = byProducer(await readStored(clickhouse, producers));
  const claimed = byProducer(await readClaimed(clickhouse, producers));
  const whole: (Candidate & { lastEpoch: number })[] = [];
  const differing: number[] = [];
  for (const candidate of candidates) {
    const { producer, runEpoch } = candidate;
    const positions = stored.get(producer) ?? [];
    const notes = noted.get(producer) ?? [];
    if (!isWhole(positions, notes)) {
      differing.push(producer);
      continue;
    }
    const epochs = [...positions, ...notes, ...(claimed.get(producer) ?? [])];
    const lastEpoch = Math.max(runEpoch, ...epochs.map(({ epoch }) => epoch));
    whole.push({ ...candidate, lastEpoch });
  }
  return { whole, differing };
}

/** Notes the proof, unless the holder has returned since. */
async function noteFree(db: Queryable, proven: Judged["whole"]): Promise<number[]> {
  if (proven.length === 0) return [];
  const { rows } = await db.query<{ producer: number }>({
    name: "note-free-producers",
    text: `update ingress_producer p
           set free_at = now(), free_above = greatest(p.free_above, proven.last_epoch)
           from unnest($1::integer[], $2::bigint[], $3::bigint[]) as proven (producer, quiet_since_ms, last_epoch)
           where p.id = proven.producer and is_producer_quiet(p)
             and (extract(epoch from p.quiet_since) * 1000)::bigint = proven.quiet_since_ms
           returning p.id as producer`,
    values: [
      proven.map(({ producer }) => producer),
      proven.map(({ quietSinceMs }) => quietSinceMs),
      proven.map(({ lastEpoch }) => lastEpoch),
    ],
  });
  return rows.map(({ producer }) => producer).toSorted((a, b) => a - b);
}

async function readNotes(db: Queryable, producers: readonly number[]): Promise<NotedPositions[]> {
  const { rows } = await db.query<NotedPositions>({
    name: "read-notes-of-quiet-producers",
    text: `with ranges as (
             select lane, producer, epoch, unnest(range_agg(int8range(from_position, to_position))) as r
             from click_lost where producer = any ($1::integer[]) group by lane, producer, epoch),
           lost as (
             select lane, producer, epoch, sum(upper(r) - lower(r))::bigint as lost, max(upper(r)) as "end"
             from ranges group by lane, producer, epoch)
           select lane, producer, epoch, coalesce(settled, 0) as settled, coalesce(lost, 0) as lost,
             coalesce("end", 0) as "end"
           from (select lane, producer, epoch, settled from click_stored where producer = any ($1::integer[])) stored
             full join lost using (lane, producer, epoch)`,
    values: [producers],
  });
  return rows;
}

async function readStored(
  clickhouse: Clickhouse,
  producers: readonly number[],
): Promise<StoredPositions[]> {
  const answer = await clickhouse.query({
    query: storedQuery(clickhouse),
    query_params: { producers },
    format: "JSONEachRow",
    clickhouse_settings: { max_execution_time: SCAN_SECONDS_MAX },
  });
  return Stored.parse(await answer.json());
}

/** Epochs that a start had, also without records. */
async function readClaimed(
  clickhouse: Clickhouse,
  producers: readonly number[],
): Promise<z.infer<typeof Claimed>> {
  const answer = await clickhouse.query({
    query: `select producer, max(epoch) as epoch from producer_claim
      where producer in {producers: Array(UInt16)} group by producer`,
    query_params: { producers },
    format: "JSONEachRow",
    clickhouse_settings: { max_execution_time: SCAN_SECONDS_MAX },
  });
  return Claimed.parse(await answer.json());
}

function byProducer<T extends { readonly producer: number }>(all: readonly T[]): Map<number, T[]> {
  const found = new Map<number, T[]>();
  for (const one of all) found.set(one.producer, [...(found.get(one.producer) ?? []), one]);
  return found;
}
