import { z } from "zod";
import type { ClickhouseReader } from "../clickhouse/connect.ts";
import { selectRows } from "../clickhouse/select.ts";
import type { Queryable } from "../postgres/connect.ts";
import { type FxFeed, findFxFeed } from "../postgres/fx-feed.ts";
import { systemClock } from "../time/clock.ts";
import { type Check, checksOf, type Question } from "./check.ts";
import { clickhouseRefusal } from "./clickhouse-checks.ts";
import { judgeClock, judgePostgresVersion, judgeRates, type ServerState } from "./judge-host.ts";
import { postgresRefusal } from "./postgres-checks.ts";

const State = z.object({ version: z.string(), atMs: z.coerce.number() });

const POSTGRES: Question<ServerState> = {
  server: "Postgres",
  ask: ({ db }) => db && stateOf(async () => await readPostgres(db)),
  refusalOf: postgresRefusal,
};
const CLICKHOUSE: Question<ServerState> = {
  server: "ClickHouse",
  ask: ({ clickhouse }) => clickhouse && stateOf(async () => await readClickhouse(clickhouse)),
  refusalOf: clickhouseRefusal,
};
const FEED: Question<FxFeed> = {
  server: "Postgres",
  ask: ({ db }) => db && findFxFeed(db),
  refusalOf: postgresRefusal,
};
const CLOCK = { judge: judgeClock, remedy: "run chrony on both hosts" };

export const SERVER_CHECKS: readonly Check[] = [
  ...checksOf(POSTGRES, ["doctor"], {
    "Postgres version": { judge: judgePostgresVersion, remedy: "upgrade the server" },
    "Postgres clock": CLOCK,
  }),
  ...checksOf(CLICKHOUSE, ["doctor"], {
    "ClickHouse version": {
      judge: ({ version }) => ({ faults: [], well: version }),
      remedy: "install a tested release",
    },
    "ClickHouse clock": CLOCK,
  }),
  ...checksOf(FEED, ["doctor"], {
    "reference rates": {
      judge: judgeRates,
      remedy: "see whether a process with the role schedule runs",
    },
  }),
];

/** The clock is compared with the middle of the time that the answer took. */
async function stateOf(ask: () => Promise<unknown>): Promise<ServerState> {
  const beforeMs = systemClock.nowMs();
  const { version, atMs } = State.parse(await ask());
  return { version, awayMs: Math.abs(atMs - (beforeMs + systemClock.nowMs()) / 2) };
}

async function readPostgres(db: Queryable): Promise<unknown> {
  const { rows } = await db.query({
    text: `select current_setting('server_version') as version,
             extract(epoch from clock_timestamp()) * 1000 as "atMs"`,
  });
  return rows[0];
}

async function readClickhouse(clickhouse: ClickhouseReader): Promise<unknown> {
  const text = "select version() as version, toUnixTimestamp64Milli(now64(3)) as atMs";
  const [row] = await selectRows(clickhouse, { name: "doctor.state", text }, State);
  return row;
}
