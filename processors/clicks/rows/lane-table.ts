import { storedDestination } from "../../../schemas/clickhouse/stored-destination.ts";
import { ClickRecord, ImpressionRecord } from "../../../schemas/events/click-record.ts";
import { IMPRESSION_LANE } from "../../../schemas/events/lanes.ts";

/** The table of a lane, and how its lines are read into columns. */
export type LaneTable = {
  readonly name: "click" | "impression";
  /** Columns that come with each row, with the type each is read as. */
  readonly columns: readonly (readonly [name: string, type: string])[];
};

/** Columns that the writer adds to every line. */
const POSITION_COLUMNS: LaneTable["columns"] = [
  ["_producer", "UInt16"],
  ["_epoch", "UInt32"],
  ["_position", "UInt64"],
];

const WIDE = new Set(["visitor", "catalog_version"]);
const MONEY = new Set(["click_payout", "click_revenue"]);
const FLAGS = new Set(["is_bot", "is_datacenter", "is_proxy", "is_headless", "missing_ua"]);
const NUMBERS = new Set([
  "workspace_id",
  "offer_id",
  "advertiser_id",
  "affiliate_id",
  "smart_link_id",
  "asn",
]);

export const CLICK_TABLE: LaneTable = {
  name: "click",
  columns: [
    ...Object.keys(ClickRecord.shape)
      .filter((name) => name !== "may_be_unique")
      .map(typed),
    ["is_unique", "Bool"],
    ...POSITION_COLUMNS,
  ],
};

export const IMPRESSION_TABLE: LaneTable = {
  name: "impression",
  columns: [...Object.keys(ImpressionRecord.shape).map(typed), ...POSITION_COLUMNS],
};

export function tableOfLane(lane: number): LaneTable {
  return lane === IMPRESSION_LANE ? IMPRESSION_TABLE : CLICK_TABLE;
}

/**
 * The insert of a lane's writer. When it begins, ClickHouse compares the writer's epoch with the newest epoch of the lane (P10), and
 * refuses with code 395 (`throwIf`). This ends late inserts early; the intents, not this check, keep a row from being stored twice. `rowLane`
 * is the lane of the rows.
 */
export function insertStatement(
  table: LaneTable,
  { lane, writerEpoch, rowLane = lane }: { lane: number; writerEpoch: number; rowLane?: number },
): string {
  const names = table.columns.map(([name]) => name).join(", ");
  const values = table.columns.map(([name]) => expression(name)).join(", ");
  const input = table.columns.map(([name, type]) => `${name} ${type}`).join(", ");
  return `insert into ${table.name} (${names}, _lane, _writer_epoch)
    select ${values}, ${rowLane}, ${writerEpoch} from input('${input}')
    where throwIf((select max(epoch) from lane_fence where lane = ${lane}) > ${writerEpoch}) = 0
    format JSONEachRow`;
}

/** Plain types: ClickHouse fills a LowCardinality column a quarter faster from a plain String. */
function typed(name: string): [string, string] {
  if (name === "ts") return [name, "Int64"];
  if (NUMBERS.has(name)) return [name, "UInt32"];
  if (WIDE.has(name)) return [name, "UInt64"];
  if (MONEY.has(name)) return [name, "Decimal(18, 4)"];
  return [name, FLAGS.has(name) ? "Bool" : "String"];
}

function expression(name: string): string {
  if (name === "click_id") return "unhex(click_id)";
  if (name === "destination") return storedDestination(name, "click_id");
  if (name === "ts") return "fromUnixTimestamp64Milli(ts, 'UTC')";
  return name;
}
