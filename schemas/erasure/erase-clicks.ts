import type { ClickHouseSettings } from "@clickhouse/client";
import { z } from "zod";
import { allShards, onCluster } from "../clickhouse/all-shards.ts";
import type { ClickhouseEditor } from "../clickhouse/connect.ts";
import { selectRows } from "../clickhouse/select.ts";
import { clickIdParts } from "../ids/click-id.ts";
import { AD_IDS, PERSONAL_COLUMNS, type PersonalColumn } from "./personal-fields.ts";

export type ClicksOf = { readonly workspaceId: number; readonly clickIds: readonly string[] };

/** A click with something to erase, and its values that may also be stored elsewhere. */
const Erasable = z.object({
  id: z.string(),
  ip: z.string(),
  ad_ids: z.array(z.string()),
});
export type ErasableClick = z.infer<typeof Erasable>;

const Found = z.object({ id: z.string(), in_ip: z.boolean(), in_text: z.boolean() });
/** A click that contains an address: as its own, or in its destination, referrer or further parameters. */
export type ClickOfAddress = z.infer<typeof Found>;

/** ClickHouse refuses a parameter above 128 KiB. An ID takes 35 bytes. */
const IDS_PER_STATEMENT = 3_000;
const TIMEOUT_MS = 25_000;
const COLUMNS = Object.keys(PERSONAL_COLUMNS).filter(isPersonalColumn);
const IS_CLICK = `workspace_id = {workspaceId:UInt32}
  and ts in (select fromUnixTimestamp64Milli(arrayJoin({times:Array(Int64)}), 'UTC'))
  and click_id in (select toFixedString(unhex(arrayJoin({clickIds:Array(String)})), 16))`;

/** Which of these clicks have something to erase. A click id contains its time, so this reads one granule per click. */
export async function findErasableClicks(
  clickhouse: ClickhouseEditor,
  of: ClicksOf,
): Promise<ErasableClick[]> {
  const found: ErasableClick[] = [];
  for (const chunk of chunksOf(of)) {
    found.push(
      ...(await selectRows(
        clickhouse,
        {
          name: "erasure.find-clicks",
          text: `select lower(hex(click_id)) as id, ip, arrayFilter(x -> x != '', [${AD_IDS.join(", ")}]) as ad_ids
            from ${allShards(clickhouse, "click")} where ${IS_CLICK} and (${describes(COLUMNS)})`,
          params: paramsOf(chunk),
        },
        Erasable,
      )),
    );
  }
  return found;
}

/** At most `rowsMax` clicks up to `untilMs` with one of `addresses`, or with a text that has `pattern` (RE2). */
export async function findClicksOfAddress(
  clickhouse: ClickhouseEditor,
  search: {
    readonly workspaceId: number;
    readonly addresses: readonly string[];
    readonly pattern: string;
    readonly untilMs: number;
    readonly rowsMax: number;
  },
): Promise<ClickOfAddress[]> {
  return await selectRows(
    clickhouse,
    {
      name: "erasure.find-clicks-of-address",
      text: `select lower(hex(click_id)) as id, toBool(has({addresses:Array(String)}, ip)) as in_ip,
          toBool(match(concat(destination, ' ', referrer, ' ', extra), {pattern:String})) as in_text
        from ${allShards(clickhouse, "click")}
        where workspace_id = {workspaceId:UInt32} and ts <= fromUnixTimestamp64Milli({untilMs:Int64}, 'UTC')
          and (in_ip or in_text)
        limit {rowsMax:UInt32}`,
      params: search,
      timeoutMs: TIMEOUT_MS,
    },
    Found,
  );
}

/** Empties columns of clicks and waits until ClickHouse has rewritten every part. A repeat changes nothing. */
export async function eraseClickColumns(
  clickhouse: ClickhouseEditor,
  of: ClicksOf,
  columns: readonly PersonalColumn[] = COLUMNS,
): Promise<void> {
  for (const chunk of chunksOf(of)) {
    await clickhouse.command({
      query: `alter table click${onCluster(clickhouse)} update ${columns.map((name) => `${name} = ${PERSONAL_COLUMNS[name]}`).join(", ")}
        where ${IS_CLICK} and (${describes(columns)})`,
      query_params: paramsOf(chunk),
      clickhouse_settings: rewritten(clickhouse),
    });
  }
}

const FoundClick = z.object({ id: z.string() });

/** Empties the visitor's hash of clicks before `beforeMs`. */
export async function eraseVisitors(
  clickhouse: ClickhouseEditor,
  of: ClicksOf,
  beforeMs: number,
): Promise<void> {
  const clickIds = of.clickIds.filter((id) => clickIdParts(id).atMs < beforeMs);
  for (const chunk of chunksOf({ ...of, clickIds })) {
    const found = await selectRows(
      clickhouse,
      {
        name: "erasure.find-visitors",
        text: `select lower(hex(click_id)) as id from ${allShards(clickhouse, "click")} where ${IS_CLICK} and visitor != 0`,
        params: paramsOf(chunk),
      },
      FoundClick,
    );
    if (found.length === 0) continue;
    await clickhouse.command({
      query: `alter table click${onCluster(clickhouse)} update visitor = 0 where ${IS_CLICK}`,
      query_params: paramsOf({ ...of, clickIds: found.map(({ id }) => id) }),
      clickhouse_settings: rewritten(clickhouse),
    });
  }
}

/** Waits until every part is rewritten, in a cluster on every replica. */
function rewritten({ cluster }: ClickhouseEditor): ClickHouseSettings {
  return { mutations_sync: cluster === undefined ? "1" : "2" };
}

function describes(columns: readonly PersonalColumn[]): string {
  return columns.map((name) => `${name} != ${PERSONAL_COLUMNS[name]}`).join(" or ");
}

function* chunksOf({ workspaceId, clickIds }: ClicksOf): Generator<ClicksOf> {
  for (let at = 0; at < clickIds.length; at += IDS_PER_STATEMENT)
    yield { workspaceId, clickIds: clickIds.slice(at, at + IDS_PER_STATEMENT) };
}

function paramsOf({ workspaceId, clickIds }: ClicksOf): Record<string, unknown> {
  return { workspaceId, clickIds, times: clickIds.map((id) => clickIdParts(id).atMs) };
}

function isPersonalColumn(name: string): name is PersonalColumn {
  return name in PERSONAL_COLUMNS;
}
