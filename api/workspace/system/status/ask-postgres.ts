import type { Lanes } from "../../../../schemas/events/lanes.ts";
import {
  type BackedUpStore,
  readBackupAges,
} from "../../../../schemas/installation/backup-notes.ts";
import { type KnownProcess, readHeartbeats } from "../../../../schemas/installation/heartbeat.ts";
import { readLanes } from "../../../../schemas/installation/lane-count.ts";
import type { Queryable } from "../../../../schemas/postgres/connect.ts";
import { type ListedProducer, readProducers } from "./producers.ts";

/** A lane and the click writer that has its lease. */
export type LeasedLane = {
  readonly lane: number;
  /** Empty for a lane that nobody has. */
  readonly owner: string;
  /** False once the lease has ended. */
  readonly isHeld: boolean;
  /** Lanes by which its offers were chosen: 0 while it waits for another lane, fewer than there are while it still has another lane's. */
  readonly lanes: number;
};

/** The last comparison of facts. `found` are the differences of a finished one. */
export type FactsCompared = {
  readonly isFinished: boolean;
  readonly found: number;
  /** Null before the first one has finished. */
  readonly secondsAgo: number | null;
};

export type PostgresStatus = {
  readonly heartbeats: readonly KnownProcess[];
  readonly producers: readonly ListedProducer[];
  readonly lanes: readonly LeasedLane[];
  /** Lanes that the installation has. */
  readonly lanesWanted: Lanes;
  /** Clicks that were noted as lost in the last 24 hours. */
  readonly lost: number;
  readonly facts: FactsCompared;
  readonly backupAges: ReadonlyMap<BackedUpStore, number>;
  /** Names of the standbys that confirm a commit. */
  readonly standbys: readonly string[];
  readonly isStandby: boolean;
};

/** What Postgres knows about the whole installation. @throws what the driver throws. */
export async function askPostgres(db: Queryable): Promise<PostgresStatus> {
  const [heartbeats, producers, lanes, lanesWanted, lost, facts, backupAges, replication] =
    await Promise.all([
      readHeartbeats(db),
      readProducers(db),
      readLeasedLanes(db),
      readLanes(db),
      countLost(db),
      readFactsCompared(db),
      readBackupAges(db),
      readReplication(db),
    ]);
  return { heartbeats, producers, lanes, lanesWanted, lost, facts, backupAges, ...replication };
}

async function readLeasedLanes(db: Queryable): Promise<LeasedLane[]> {
  const { rows } = await db.query<LeasedLane>({
    name: "status-lanes",
    text: `select lane, owner, expires_at > now() as "isHeld", lanes from lane_lease order by lane`,
  });
  return rows;
}

/** Without clicks that another ingress has recorded. */
async function countLost(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ lost: number }>({
    name: "status-lost",
    text: `select coalesce(sum(to_position - from_position), 0)::bigint as lost from click_lost
           where reason <> 'passed on' and noted_at > now() - interval '24 hours'`,
  });
  return rows[0]?.lost ?? 0;
}

async function readFactsCompared(db: Queryable): Promise<FactsCompared> {
  const { rows } = await db.query<FactsCompared>({
    name: "status-facts",
    text: `select run = finished_run as "isFinished", found,
             case when finished_at > '-infinity'
               then greatest(0, extract(epoch from clock_timestamp() - finished_at))::float8 end as "secondsAgo"
           from fact_audit where scope = 'recent'`,
  });
  return rows[0] ?? { isFinished: false, found: 0, secondsAgo: null };
}

async function readReplication(
  db: Queryable,
): Promise<Pick<PostgresStatus, "standbys" | "isStandby">> {
  const { rows } = await db.query<{ standbys: string[]; isStandby: boolean }>({
    name: "status-replication",
    text: `select pg_is_in_recovery() as "isStandby",
             array(select coalesce(nullif(application_name, ''), 'standby') from pg_stat_replication
               where sync_state in ('sync', 'quorum') order by 1) as standbys`,
  });
  return rows[0] ?? { standbys: [], isStandby: false };
}
