import type { Queryable } from "../../../../schemas/postgres/connect.ts";

/**
 * The longest silence of a live producer. An ingress updates its run every 2 s, by the clock of Postgres; click writers save its last
 * message every 10 s, by the clock of the ingress. A message from further ahead is no sign of life: that clock was wrong.
 */
const ALIVE_SECONDS = 30;

export type ProducerState = "running" | "silent" | "ended" | "given up" | "free";

/** An ingress journal and its state in Postgres. Times are ISO text. */
export type ListedProducer = {
  readonly id: number;
  readonly host: string;
  readonly state: ProducerState;
  /** When it last updated its run or a click writer last received a message from it; null if neither has happened. */
  readonly lastWordAt: string | null;
  /** Clicks answered after this time may be missing; null if none can be. */
  readonly mayMissSince: string | null;
};

/** All producers, or one, in order of their numbers. */
export async function readProducers(db: Queryable, only?: number): Promise<ListedProducer[]> {
  const { rows } = await db.query<ListedProducer>({
    name: "read-producers",
    text: `with message as (
             select producer, min(said_ms) as first_ms,
               max(said_ms) filter (where to_timestamp(said_ms / 1000.0) < now() + $2 * interval '1 second') as last_ms
             from click_producer group by producer),
           known as (
             select coalesce(p.id, m.producer) as id, coalesce(p.host, '') as host, p.given_up_at,
               p.given_up_from_ms, m.first_ms, p.run_at,
               p.free_at is not null and p.quiet_since is not null and is_producer_quiet(p) as is_free,
               greatest(p.run_at, to_timestamp(m.last_ms / 1000.0)) as last_at
             from ingress_producer p full join message m on m.producer = p.id
             where $1::int is null or coalesce(p.id, m.producer) = $1),
           judged as (
             select id, host, last_at, first_ms, given_up_from_ms, case
               when last_at > now() - $2 * interval '1 second' and (run_at is not null or first_ms is not null)
                 then 'running'
               when is_free then 'free'
               when given_up_at is not null then 'given up'
               when first_ms is not null then 'silent'
               else 'ended' end as state
             from known)
           select id, host, state, last_at as "lastWordAt",
             case when state = 'silent' then to_timestamp(first_ms / 1000.0)
               when state in ('given up', 'free') then to_timestamp(given_up_from_ms / 1000.0) end as "mayMissSince"
           from judged order by id`,
    values: [only ?? null, ALIVE_SECONDS],
  });
  return rows;
}

/**
 * Stops waiting for a silent producer: the writers forget it within ten seconds. If it reports again later, its reports count as
 * before. Running this twice changes nothing.
 */
export async function giveUpProducer(db: Queryable, id: number): Promise<void> {
  await db.query({
    name: "give-up-producer",
    text: `with gone as (delete from click_producer where producer = $1 returning said_ms)
           insert into ingress_producer as known (id, given_up_at, given_up_from_ms)
             overriding system value
           select $1, now(), min(said_ms) from gone having count(*) > 0
           on conflict (id) do update set given_up_at = excluded.given_up_at,
             given_up_from_ms = least(known.given_up_from_ms, excluded.given_up_from_ms)`,
    values: [id],
  });
}
