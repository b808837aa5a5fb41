import { z } from "zod";
import { allShards } from "../clickhouse/all-shards.ts";
import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import type { OtherStores } from "./other-stores.ts";
import { readMarkedSequences } from "./store-marks.ts";
import type { StreamMarkRead } from "./stream-marks.ts";

/** Ids to skip, because Postgres may have assigned some after the last record in the other stores. Far more than it assigns in seconds. */
const MARGIN = 10_000;
/** Smaller, because there are only 65,535 producer numbers. */
const PRODUCER_MARGIN = 16;
const PRODUCER_SEQUENCE = "ingress_producer_id_seq";
const SCAN_SECONDS_MAX = 600;

/** ClickHouse columns with ids from Postgres, each with the sequence that assigns them. */
const CLICK_COLUMNS: readonly (readonly [column: string, sequence: string])[] = [
  ["workspace_id", "workspace_id_seq"],
  ["advertiser_id", "advertiser_id_seq"],
  ["affiliate_id", "affiliate_id_seq"],
  ["offer_id", "offer_id_seq"],
];
const KNOWN_IDS: Readonly<Record<string, typeof CLICK_COLUMNS>> = {
  click: [
    ...CLICK_COLUMNS,
    ["smart_link_id", "smart_link_id_seq"],
    ["_producer", PRODUCER_SEQUENCE],
  ],
  impression: [...CLICK_COLUMNS, ["_producer", PRODUCER_SEQUENCE]],
  conversion_fact: [...CLICK_COLUMNS, ["smart_link_id", "smart_link_id_seq"]],
  ad_cost_fact: [...CLICK_COLUMNS, ["id", "ad_cost_id_seq"]],
};

type SequenceState = { readonly name: string; readonly last: number; readonly most: number };

/** A sequence, with its last value before and after. */
export type Lifted = { readonly name: string; readonly from: number; readonly to: number };

/** The last value of every sequence; 0 for one that was never used. */
export async function readSequences(db: Queryable): Promise<Map<string, number>> {
  return new Map((await sequenceStates(db)).map(({ name, last }) => [name, last]));
}

export type LiftOptions = {
  /**
   * "restore": searches the rows of ClickHouse too, because its marks may be from a backup as well. "restart": reads only the marks, and
   * leaves producer numbers alone, because there are few of them and nonces already distinguish their users.
   */
  readonly after: "restart" | "restore";
  /** Producer numbers known from elsewhere. */
  readonly producers?: readonly number[];
};

/**
 * Raises every sequence of Postgres above the highest value that the other stores have seen, so that no new record gets the id of one that was
 * created after the backup. Always safe: it may skip ids but never assigns one twice. @throws what the drivers throw; sequences that
 * were already raised stay raised.
 */
export async function liftSequences(
  db: Queryable,
  { clickhouse, streams }: OtherStores,
  { after, producers = [] }: LiftOptions,
): Promise<Lifted[]> {
  const known = await readMarkedSequences(clickhouse);
  if (streams !== undefined) raiseTo(known, await streams.read());
  if (after === "restore") await raiseToRows(known, clickhouse);
  for (const producer of producers) raise(known, PRODUCER_SEQUENCE, producer);
  const lifted: Lifted[] = [];
  for (const state of await sequenceStates(db)) {
    const { name, last } = state;
    if (after === "restart" && name === PRODUCER_SEQUENCE) continue;
    const to = targetOf(state, known.get(name) ?? 0);
    await db.query({
      name: "lift-sequence",
      text: "select setval(format('%I', $1::text)::regclass, $2)",
      values: [name, to],
    });
    lifted.push({ name, from: last, to });
  }
  return lifted;
}

function targetOf({ name, last, most }: SequenceState, known: number): number {
  const margin = name === PRODUCER_SEQUENCE ? PRODUCER_MARGIN : MARGIN;
  return Math.min(most, Math.max(last, known) + margin);
}

function raise(known: Map<string, number>, name: string, value: number): void {
  known.set(name, Math.max(value, known.get(name) ?? 0));
}

function raiseTo(known: Map<string, number>, { mark }: StreamMarkRead): void {
  for (const [name, last] of Object.entries(mark?.sequences ?? {})) {
    raise(known, name, last);
  }
}

async function raiseToRows(known: Map<string, number>, clickhouse: Clickhouse): Promise<void> {
  for (const [table, columns] of Object.entries(KNOWN_IDS)) {
    for (const [column, sequence] of columns) {
      raise(known, sequence, await highestOf(clickhouse, table, column));
    }
  }
}

async function sequenceStates(db: Queryable): Promise<SequenceState[]> {
  const { rows } = await db.query<SequenceState>({
    name: "read-sequences",
    text: `select sequencename as name, coalesce(last_value, 0) as last, max_value as most
           from pg_sequences where schemaname = current_schema() order by sequencename`,
  });
  return rows;
}

/** The `group by` lets ClickHouse read projections by offer, partner and so on instead of all rows. */
async function highestOf(clickhouse: Clickhouse, table: string, column: string): Promise<number> {
  const answer = await clickhouse.query({
    query: `select max(id) as highest from (
      select toUInt64({column: Identifier}) as id from ${allShards(clickhouse, table)} group by {column: Identifier})`,
    query_params: { column },
    format: "JSONEachRow",
    clickhouse_settings: { max_execution_time: SCAN_SECONDS_MAX },
  });
  const [row] = z.array(z.object({ highest: z.int() })).parse(await answer.json());
  return row?.highest ?? 0;
}
