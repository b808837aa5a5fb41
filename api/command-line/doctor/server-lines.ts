import { z } from "zod";
import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../../schemas/clickhouse/select.ts";
import { answerOf, type CheckGroup } from "../../../schemas/durability/check-group.ts";
import {
  clickhouseInsertCheck,
  clickhouseTableChecks,
} from "../../../schemas/durability/clickhouse-checks.ts";
import { identityCheck } from "../../../schemas/durability/identity-check.ts";
import { natsChecks } from "../../../schemas/durability/nats-checks.ts";
import { postgresChecks } from "../../../schemas/durability/postgres-checks.ts";
import type { DurabilitySettings } from "../../../schemas/durability/require-durability.ts";
import { within } from "../../../schemas/host/within.ts";
import type { NatsSpace } from "../../../schemas/nats/lane-groups.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { isPostgresAway } from "../../../schemas/postgres/errors.ts";
import { findFxFeed } from "../../../schemas/postgres/fx-feed.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import type { Servers } from "../servers.ts";
import { ratesLine } from "./rates-line.ts";
import { linesOf, type ReportLine } from "./report-line.ts";

/** No server delays the report longer. */
const PATIENCE_MS = 4_000;
/** The program ends without connections that do not close. */
const CLOSE_MS = 500;
const NAME = "tracker doctor";
const POSTGRES_MIN = 15;
/** A click that is this much too old or too new still counts on the right day nearly always; ten times as much does not. */
const CLOCK_WARN_MS = 200;
const CLOCK_REFUSE_MS = 2_000;

const State = z.object({ version: z.string(), atMs: z.coerce.number() });
type State = z.infer<typeof State>;

export type ServerOptions = {
  readonly servers: Servers;
  readonly natsSpace: NatsSpace;
  readonly durability: DurabilitySettings;
  readonly isStrict: boolean;
};

/** The checks of DURABILITY=strict, and the version and clock of each server. */
export async function serverLines(options: ServerOptions): Promise<ReportLine[]> {
  const { servers, natsSpace, durability, isStrict } = options;
  const db = openPool({ ...servers.postgres, applicationName: NAME, connectionsMax: 2 });
  const clickhouse = openClickhouse({ ...servers.clickhouse, applicationName: NAME });
  try {
    const { nats, postgres } = servers;
    const groups: CheckGroup[] = [
      located(natsChecks({ ...nats, ...natsSpace }, durability), nats.url),
      located(postgresChecks(db, durability.standbys), postgres.url),
      located(clickhouseTableChecks(clickhouse), servers.clickhouse.url),
      located(clickhouseInsertCheck(clickhouse), servers.clickhouse.url),
      identityCheck(db, clickhouse),
    ];
    const [findings, ...states] = await Promise.all([
      Promise.all(groups.map((group) => answerOf(group, PATIENCE_MS))),
      stateLines("Postgres", async () => await postgresState(db)),
      stateLines("ClickHouse", async () => await clickhouseState(clickhouse)),
    ]);
    const checks = findings.flat().flatMap((one) => linesOf(one, isStrict));
    return [...checks, ...states.flat(), ...(await ratesLines(db))];
  } finally {
    await within(CLOSE_MS, Promise.all([db.end(), clickhouse.close()]));
  }
}

/** The group with the addresses of its server in its sentences: whoever reads them has to go there. */
export function located<Group extends Pick<CheckGroup, "server">>(
  group: Group,
  url: string,
): Group {
  const hosts = url.split(",").map((one) => new URL(one.trim()).host);
  return { ...group, server: `${group.server} at ${hosts.join(", ")}` };
}

async function ratesLines(db: Pool): Promise<ReportLine[]> {
  try {
    const feed = await within(PATIENCE_MS, findFxFeed(db));
    return feed === "late" ? [] : [ratesLine(feed)];
  } catch (error) {
    // The checks of this server say that it is away.
    if (isPostgresAway(error)) return [];
    const why = error instanceof Error ? error.message : String(error);
    const text = `the state of the feed cannot be read: ${why}. If the schema is older than this release, run \`tracker migrate\`.`;
    return [{ state: "warn", subject: "reference rates", text }];
  }
}

async function stateLines(server: string, ask: () => Promise<State>): Promise<ReportLine[]> {
  const beforeMs = systemClock.nowMs();
  try {
    const state = await within(PATIENCE_MS, ask());
    if (state === "late") return [];
    const middleMs = (beforeMs + systemClock.nowMs()) / 2;
    return [versionLine(server, state), clockLine(server, Math.abs(state.atMs - middleMs))];
  } catch {
    // The checks of this server say that it is away.
    return [];
  }
}

function versionLine(server: string, { version }: State): ReportLine {
  const subject = `${server} version`;
  if (server !== "Postgres" || Number.parseInt(version, 10) >= POSTGRES_MIN) {
    return { state: "ok", subject, text: version };
  }
  const text = `${version} is older than ${POSTGRES_MIN}, which is not tested: upgrade the server.`;
  return { state: "warn", subject, text };
}

function clockLine(server: string, awayMs: number): ReportLine {
  const subject = `${server} clock`;
  const text = `differs from ours by ${Math.round(awayMs)} ms`;
  if (awayMs <= CLOCK_WARN_MS) return { state: "ok", subject, text };
  const remedy = `${text}: run chrony on both hosts.`;
  return { state: awayMs > CLOCK_REFUSE_MS ? "refuse" : "warn", subject, text: remedy };
}

async function postgresState(db: Pool): Promise<State> {
  const { rows } = await db.query({
    text: `select current_setting('server_version') as version,
             extract(epoch from clock_timestamp()) * 1000 as "atMs"`,
  });
  return State.parse(rows[0]);
}

async function clickhouseState(clickhouse: Clickhouse): Promise<State> {
  const text = "select version() as version, toUnixTimestamp64Milli(now64(3)) as atMs";
  const [row] = await selectRows(clickhouse, { name: "doctor.state", text }, State);
  return State.parse(row);
}
