import type { ClickhouseReader } from "../../../schemas/clickhouse/connect.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { Batcher } from "../../../schemas/host/batcher.ts";
import { selectClicks } from "./select-clicks.ts";

type ClickKey = { readonly clickId: string; readonly atMs: number };
type Workspaces = { readonly workspaces: ReadonlyMap<number, unknown> };
type Answer = { readonly click: ClickRecord | undefined | "away" };

const CLICKS_PER_STATEMENT_MAX = 100;
const STATEMENTS_MAX = 2;
/** An upper bound: the pools of reports and look-ups admit fewer. */
const WAITING_MAX = 10_000;

/** Clicks of ClickHouse by their ids. Look-ups that arrive together share one statement. */
export class StoredClicks {
  readonly #statements: Batcher<ClickKey, Answer>;

  constructor(clickhouse: ClickhouseReader, catalog: Workspaces) {
    this.#statements = new Batcher({
      flush: (together) => readClicks(clickhouse, catalog, together),
      itemsMax: CLICKS_PER_STATEMENT_MAX,
      flushesMax: STATEMENTS_MAX,
      waitingMax: WAITING_MAX,
    });
  }

  /** The click in any workspace; undefined for none. `atMs` is the time within the id. */
  async find(clickId: string, atMs: number): Promise<ClickRecord | undefined | "away"> {
    return (await this.#statements.ask({ clickId, atMs })).click;
  }
}

/** A row never changes, so a click that any replica has is the answer. Only for clicks that were not found, a quorum of each shard is asked. */
async function readClicks(
  clickhouse: ClickhouseReader,
  catalog: Workspaces,
  together: readonly ClickKey[],
): Promise<Answer[]> {
  if (clickhouse.cluster === undefined) return await readFrom(clickhouse, catalog, together);
  const answers = await readFrom(clickhouse, catalog, together, "one");
  const missing = together.filter((_, index) => answers[index]?.click === undefined);
  if (missing.length === 0) return answers;
  const certain = await readFrom(clickhouse, catalog, missing);
  const byKey = new Map(missing.map((key, index) => [key, certain[index]]));
  return together.map((key, index) => byKey.get(key) ?? answers[index] ?? { click: "away" });
}

async function readFrom(
  clickhouse: ClickhouseReader,
  catalog: Workspaces,
  together: readonly ClickKey[],
  replicas?: "one" | "quorum",
): Promise<Answer[]> {
  const query = {
    // Includes clicks without a workspace (G140), to distinguish them from clicks that are still in flight.
    where: `click.workspace_id in {workspaceIds: Array(UInt32)}
      and click.ts in {times: Array(DateTime64(3, 'UTC'))}
      and click.click_id in arrayMap(id -> toFixedString(unhex(id), 16), {clickIds: Array(String)})`,
    order: "",
    params: {
      workspaceIds: [0, ...catalog.workspaces.keys()],
      times: [...new Set(together.map(({ atMs }) => clickhouseTime(atMs)))],
      clickIds: together.map(({ clickId }) => clickId),
    },
  };
  const clicks = await selectClicks(clickhouse, query, replicas);
  if (clicks === "away") return together.map(() => ({ click: "away" }));
  const byId = new Map(clicks.map((click) => [click.click_id, click]));
  return together.map(({ clickId }) => ({ click: byId.get(clickId) }));
}

export function clickhouseTime(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").replace("Z", "");
}
