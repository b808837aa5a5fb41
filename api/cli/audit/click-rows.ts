import { z } from "zod";
import { allShards } from "../../../schemas/clickhouse/all-shards.ts";
import { CLOSING_LANE } from "../../../schemas/clickhouse/closing-lane.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { pause } from "../../../schemas/host/pause.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { count, plural } from "../../workspace/system/status/status-line.ts";
import { type AuditContext, type Finding, found } from "./check.ts";
import { deleteDoubles } from "./click-doubles.ts";

/** One sequence of positions, in the order of lanes and producers. */
type Sequence = { readonly lane: number; readonly producer: number; readonly epoch: number };
type Stored = Sequence & { readonly rows: number; readonly end: number };
type Noted = Sequence & { readonly settled: number; readonly lost: number; readonly end: number };

/** More or fewer rows than positions. */
type Difference = Sequence & { readonly rows: number; readonly expected: number };

/** A writer that reads its stream again after a restart is behind for some seconds; a table that lacks rows stays so. */
const PATIENCE_MS = 15_000;
const POLL_MS = 1_000;

const STORED = z.array(
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
  from ${allShards(clickhouse, "click")} where _lane != ${CLOSING_LANE} group by _lane, _producer, _epoch
  union all
  select _lane as lane, _producer as producer, _epoch as epoch, count() as rows, max(_position) + 1 as end
  from ${allShards(clickhouse, "impression")} where _lane != ${CLOSING_LANE} group by _lane, _producer, _epoch`;

/**
 * Each position of each producer has exactly one row, or is noted as lost. Compares rows, positions and the notes of the click writers
 * over all time.
 */
export async function auditClickRows(context: AuditContext): Promise<Finding> {
  const { stores, scope, terminal, signal } = context;
  let { rows, lanes, differences } = await compareUntilEqual(stores, signal);
  const doubled = differences.filter((one) => one.rows > one.expected);
  if (scope.isRepair && doubled.length > 0) {
    const deleted = await deleteOnEachShard(stores, doubled, signal);
    terminal.report(`${deleted} rows deleted that were stored twice`);
    ({ rows, lanes, differences } = await compareUntilEqual(stores, signal));
  }
  return found(`${count(rows)} rows of ${plural(lanes, "lane")}`, differences.map(sentenceOf));
}

/** Each shard has its own names of parts, so it is repaired by itself. A row that two shards have is left alone. */
async function deleteOnEachShard(
  { clickhouse, clickhouseNodes }: AuditContext["stores"],
  doubled: readonly Difference[],
  signal: AbortSignal,
): Promise<number> {
  if (clickhouseNodes === undefined) return await deleteDoubles(clickhouse, doubled, signal);
  const nodes = await clickhouseNodes.answering();
  const byShard = new Map(nodes.map(({ shard, node }) => [shard, node]));
  let deleted = 0;
  for (const node of byShard.values()) deleted += await deleteDoubles(node, doubled, signal);
  return deleted;
}

type Compared = {
  readonly rows: number;
  readonly lanes: number;
  readonly differences: readonly Difference[];
};

async function compareUntilEqual(
  { clickhouse, db }: AuditContext["stores"],
  signal: AbortSignal,
): Promise<Compared> {
  const endMs = systemClock.nowMs() + PATIENCE_MS;
  for (;;) {
    // The notes first: what is noted as stored is in the table.
    const noted = await readNotes(db);
    const stored = await readStored(clickhouse);
    const differences = differencesOf(stored, noted);
    if (differences.length === 0 || systemClock.nowMs() >= endMs) {
      const rows = stored.reduce((sum, one) => sum + one.rows, 0);
      return { rows, lanes: new Set(stored.map(({ lane }) => lane)).size, differences };
    }
    await pause(POLL_MS, signal);
    signal.throwIfAborted();
  }
}

async function readStored(clickhouse: Clickhouse): Promise<Stored[]> {
  const answer = await clickhouse.query({ query: storedQuery(clickhouse), format: "JSONEachRow" });
  return STORED.parse(await answer.json());
}

/** Ranges of lost positions may overlap: a range that was declared lost can be noted again, longer. */
async function readNotes(db: Queryable): Promise<Noted[]> {
  const { rows } = await db.query<Noted>({
    name: "audit-click-notes",
    text: `with ranges as (
             select lane, producer, epoch, unnest(range_agg(int8range(from_position, to_position))) as r
             from click_lost group by lane, producer, epoch),
           lost as (
             select lane, producer, epoch, sum(upper(r) - lower(r))::bigint as lost, max(upper(r)) as "end"
             from ranges group by lane, producer, epoch)
           select lane, producer, epoch, coalesce(settled, 0) as settled, coalesce(lost, 0) as lost,
             coalesce("end", 0) as "end"
           from click_stored full join lost using (lane, producer, epoch)`,
  });
  return rows;
}

function differencesOf(stored: readonly Stored[], noted: readonly Noted[]): Difference[] {
  const notes = new Map(noted.map((one) => [keyOf(one), one]));
  const rows = new Map(stored.map((one) => [keyOf(one), one]));
  return [...new Set([...rows.keys(), ...notes.keys()])]
    .flatMap((key) => differenceOf(rows.get(key), notes.get(key)))
    .toSorted((a, b) => a.lane - b.lane || a.producer - b.producer || a.epoch - b.epoch);
}

/** Positions begin at 0. Above the last row only the notes tell what must be there. */
function differenceOf(stored: Stored | undefined, noted: Noted | undefined): Difference[] {
  const sequence = stored ?? noted;
  if (sequence === undefined) return [];
  const { lane, producer, epoch } = sequence;
  const { settled, lost, end } = noted ?? { settled: 0, lost: 0, end: 0 };
  const rows = stored?.rows ?? 0;
  const expected = Math.max(stored?.end ?? 0, end, settled) - lost;
  return rows === expected ? [] : [{ lane, producer, epoch, rows, expected }];
}

function keyOf({ lane, producer, epoch }: Sequence): string {
  return `${lane}.${producer}.${epoch}`;
}

function sentenceOf({ lane, producer, epoch, rows, expected }: Difference): string {
  const where = `lane ${lane}, producer ${producer} (epoch ${epoch})`;
  return rows > expected
    ? `${where}: ${rows - expected} rows too many, stored twice. \`tracker audit --repair\` deletes the second ones.`
    : `${where}: ${expected - rows} rows missing. Its click writer reads them again from the stream by itself; if they stay missing, look for clicks.table-has-forgotten-rows in its log.`;
}
