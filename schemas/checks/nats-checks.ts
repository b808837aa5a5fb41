import { connectNats, type Nats } from "../nats/connect.ts";
import { NatsError } from "../nats/errors.ts";
import { clicksStreams } from "../nats/lane-groups.ts";
import { askBySystemAccount, askMonitors, type NatsServerReport } from "../nats/server-reports.ts";
import { askStream, type StreamReport } from "../nats/stream-report.ts";
import { checksOf, type DurabilitySettings, type Question, type Sources } from "./check.ts";
import type { Judgement } from "./finding.ts";
import { judgeNatsSync, judgeNatsVersions, judgeStreams, type NatsServers } from "./judge-nats.ts";

type NatsAddress = NonNullable<Sources["nats"]>;

type NatsFacts = {
  readonly servers: NatsServers;
  /** The server that is connected, if any. */
  readonly connected: readonly Pick<NatsServerReport, "id" | "name" | "version">[];
  readonly streams: readonly StreamReport[];
  /** Names of streams that do not exist. */
  readonly missing: readonly string[];
};

const NAME = "tracker durability";

/** Over connections of its own, so that it depends on no state of the process. */
const NATS: Question<NatsFacts> = {
  server: "NATS",
  ask: ({ nats, durability }) => nats && readFacts(nats, durability),
  refusalOf: natsRefusal,
};

export const NATS_CHECKS = checksOf(NATS, ["start", "doctor"], {
  N1: {
    judge: ({ servers }) => judgeNatsSync(servers),
    remedy: "set `sync_interval: always` in the jetstream block of each server",
  },
  N2: {
    judge: ({ streams, missing }, rules) => judgeStreams(streams, rules, missing),
    remedy: "run `tracker migrate` with the settings of the stream",
  },
  N3: { judge: judgeVersions, remedy: "install a newer NATS" },
});

function judgeVersions({ servers, connected, streams }: NatsFacts): Judgement {
  const reports = "reports" in servers ? servers.reports : [];
  // Servers that nobody may ask still show their number by the copies of our streams.
  const sizes = [
    ...streams.map(({ replicas }) => replicas),
    ...reports.map((one) => one.clusterSize),
  ];
  return judgeNatsVersions([...connected, ...reports], Math.max(1, ...sizes));
}

async function readFacts(address: NatsAddress, rules: DurabilitySettings): Promise<NatsFacts> {
  const [servers, own] = await Promise.all([askServers(address, rules), askOwn(address)]);
  return { servers, ...own };
}

async function askServers(
  { access = {} }: NatsAddress,
  { natsSystemUrl: url, natsMonitorUrls: monitorUrls }: DurabilitySettings,
): Promise<NatsServers> {
  if (url === undefined) {
    if (monitorUrls.length === 0) return { way: "none" };
    const reports = await askMonitors(monitorUrls);
    return { way: "monitors", listed: monitorUrls.length, reports };
  }
  // The same certificates as for our own user, but another login.
  const { caFile, certFile, keyFile } = access;
  const system = { url, prefix: "", access: { caFile, certFile, keyFile } };
  try {
    const reports = await withNats(system, askBySystemAccount);
    return { way: "system account", reports };
  } catch (error) {
    const isRefused = error instanceof NatsError && error.fault === "login refused";
    if (!isRefused && !isWithoutResponders(error)) throw error;
    return { way: "refused" };
  }
}

async function askOwn(address: NatsAddress): Promise<Omit<NatsFacts, "servers">> {
  return await withNats(address, async (nats) => {
    const names = clicksStreams(nats);
    const reports = await Promise.all(names.map(async (name) => await askStream(nats, name)));
    const { info } = nats.connection;
    return {
      streams: reports.filter((report) => report !== undefined),
      missing: names.filter((_, index) => reports[index] === undefined),
      connected:
        info === undefined
          ? []
          : [{ id: info.server_id, name: info.server_name, version: info.version }],
    };
  });
}

async function withNats<T>(address: NatsAddress, work: (nats: Nats) => Promise<T>): Promise<T> {
  const nats = await connectNats({ ...address, name: NAME });
  try {
    return await work(nats);
  } finally {
    await nats.connection.close();
  }
}

/** Only a missing permission: everything else can pass by itself. */
function natsRefusal(error: unknown): string | undefined {
  const name = nameOf(error);
  return name === "PermissionViolationError" ? name : undefined;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** Nobody listens on the subjects of the system account for a user of another account. */
function isWithoutResponders(error: unknown): boolean {
  return (
    nameOf(error) === "NoResponders" ||
    (error instanceof Error && nameOf(error.cause) === "NoResponders")
  );
}
