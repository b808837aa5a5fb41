import { z } from "zod";
import { allShards, everyFence } from "../../schemas/clickhouse/all-shards.ts";
import { CLOSING_LANE } from "../../schemas/clickhouse/closing-lane.ts";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";

const Fences = z.array(z.object({ lane: z.int(), epoch: z.int() }));
/** Limit for the list of keys and for the list of partners. */
const LISTED_MAX = 200;

type Reviewed = { readonly id: number; readonly name: string; readonly workspace: string };

/** Click writers whose lease has not expired. */
export async function liveWriters(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ owner: string }>({
    name: "read-live-writers",
    text: "select owner from lane_writer where expires_at >= now() order by owner",
  });
  return rows.map(({ owner }) => owner);
}

/** Raises the epoch of each lane to the highest that ClickHouse has seen from a writer, in its fence or in its rows. */
export async function raiseLaneEpochs(
  db: Queryable,
  clickhouse: Clickhouse,
): Promise<{ lane: number; epoch: number }[]> {
  const answer = await clickhouse.query({
    query: `select lane, max(epoch) as epoch from (
        select lane, epoch from ${everyFence(clickhouse)}
        union all select _lane as lane, max(_writer_epoch) as epoch from ${allShards(clickhouse, "click")} group by lane
        union all select _lane as lane, max(_writer_epoch) as epoch from ${allShards(clickhouse, "impression")} group by lane)
      where lane != ${CLOSING_LANE} group by lane order by lane`,
    format: "JSONEachRow",
  });
  const fences = Fences.parse(await answer.json());
  const { rows } = await db.query<{ lane: number; epoch: number }>({
    name: "raise-lane-epochs",
    text: `insert into lane_lease as known (lane, epoch)
           select lane, epoch from unnest($1::int[], $2::bigint[]) as fence (lane, epoch)
           on conflict (lane) do update set epoch = greatest(known.epoch, excluded.epoch)
           returning lane, epoch`,
    values: [fences.map(({ lane }) => lane), fences.map(({ epoch }) => epoch)],
  });
  return rows.toSorted((a, b) => a.lane - b.lane);
}

/** Keys and partners that were created, used or changed in the hour before a time (ISO text). */
export async function changedBefore(
  db: Queryable,
  at: string,
): Promise<{ keys: Reviewed[]; partners: Reviewed[] }> {
  const keys = await db.query<Reviewed>({
    name: "read-keys-to-review",
    text: `select k.id, k.name, w.slug as workspace from api_key k join workspace w on w.id = k.workspace_id
           where k.revoked_at is null
             and greatest(k.created_at, k.last_used_at) > $1::timestamptz - interval '1 hour'
           order by k.id limit $2`,
    values: [at, LISTED_MAX],
  });
  const partners = await db.query<Reviewed>({
    name: "read-partners-to-review",
    text: `select a.id, a.name, w.slug as workspace from affiliate a join workspace w on w.id = a.workspace_id
           where a.updated_at > $1::timestamptz - interval '1 hour' order by a.id limit $2`,
    values: [at, LISTED_MAX],
  });
  return { keys: keys.rows, partners: partners.rows };
}

/** The highest click lane that ClickHouse has a row of; -1 for an empty table. */
export async function highestLane(clickhouse: Clickhouse): Promise<number> {
  const answer = await clickhouse.query({
    query: `select if(count() = 0, -1, toInt32(max(_lane))) as lane from ${allShards(clickhouse, "click")}
      where _lane != ${CLOSING_LANE}`,
    format: "JSONEachRow",
  });
  return z.array(z.object({ lane: z.int() })).parse(await answer.json())[0]?.lane ?? -1;
}
