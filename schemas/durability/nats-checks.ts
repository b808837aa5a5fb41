import type { NatsAccess } from "../nats/access.ts";
import { connectNats, type Nats, type NatsOptions } from "../nats/connect.ts";
import { NatsError } from "../nats/errors.ts";
import { clicksStreams } from "../nats/lane-groups.ts";
import { askBySystemAccount, askMonitors, type NatsServerReport } from "../nats/server-reports.ts";
import { askStream } from "../nats/stream-report.ts";
import type { CheckGroup } from "./check-group.ts";
import type { Finding } from "./finding.ts";
import {
  judgeNatsSync,
  judgeNatsVersions,
  judgeStreams,
  missingStream,
  type NatsServers,
  noSystemAccount,
} from "./judge-nats.ts";
import type { DurabilitySettings } from "./require-durability.ts";

type NatsAddress = Pick<NatsOptions, "url" | "access" | "prefix" | "groups">;
type NatsRules = Pick<DurabilitySettings, "singleSite" | "natsSystemUrl" | "natsMonitorUrls">;

type Answer = { readonly servers: NatsServers; readonly sync: Finding };

const NAME = "tracker durability";

/** N1, N2, N3, over connections of their own, so that they depend on no state of the process. */
export function natsChecks(address: NatsAddress, rules: NatsRules): CheckGroup {
  return {
    checks: ["N1", "N2", "N3"],
    server: "NATS",
    ask: async () => {
      const [{ servers, sync }, own] = await Promise.all([
        askServers(address, rules),
        askOwn(address, rules),
      ]);
      const reports = servers.way === "none" ? [] : servers.reports;
      // Without a way to ask the servers, the copies of our streams show that there are several.
      const clusterSize = Math.max(own.copies, ...reports.map((report) => report.clusterSize));
      const versions = judgeNatsVersions([...own.servers, ...reports], clusterSize);
      return [sync, own.streams, versions];
    },
    refusalOf: natsRefusal,
  };
}

async function askServers(
  { access = {} }: NatsAddress,
  { natsSystemUrl: url, natsMonitorUrls: monitorUrls }: NatsRules,
): Promise<Answer> {
  if (url !== undefined) return await askSystemAccount(url, access);
  const servers: NatsServers =
    monitorUrls.length === 0
      ? { way: "none" }
      : { way: "monitors", listed: monitorUrls.length, reports: await askMonitors(monitorUrls) };
  return { servers, sync: judgeNatsSync(servers) };
}

/** The same certificates as for our own user, but another login. */
async function askSystemAccount(
  url: string,
  { caFile, certFile, keyFile }: NatsAccess,
): Promise<Answer> {
  const address = { url, prefix: "", access: { caFile, certFile, keyFile } };
  try {
    return await withNats(address, async (nats) => {
      const servers = { way: "system account", reports: await askBySystemAccount(nats) } as const;
      return { servers, sync: judgeNatsSync(servers) };
    });
  } catch (error) {
    const isRefused = error instanceof NatsError && error.fault === "login refused";
    if (!isRefused && !isWithoutResponders(error)) throw error;
    return { servers: { way: "none" }, sync: noSystemAccount() };
  }
}

async function askOwn(
  address: NatsAddress,
  { singleSite }: NatsRules,
): Promise<{
  readonly streams: Finding;
  /** The one that is connected. */
  readonly servers: readonly Pick<NatsServerReport, "id" | "name" | "version">[];
  /** The most that one of them has; at least 1. */
  readonly copies: number;
}> {
  return await withNats(address, async (nats) => {
    const names = clicksStreams(nats);
    const reports = await Promise.all(names.map(async (name) => await askStream(nats, name)));
    const present = reports.filter((report) => report !== undefined);
    const missing = names.filter((_, index) => reports[index] === undefined);
    const { faults } = judgeStreams(present, { singleSite });
    const streams: Finding = { check: "N2", faults: [...missing.map(missingStream), ...faults] };
    const { info } = nats.connection;
    return {
      streams,
      servers:
        info === undefined
          ? []
          : [{ id: info.server_id, name: info.server_name, version: info.version }],
      copies: Math.max(1, ...present.map(({ replicas }) => replicas)),
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

/** Nobody listens on the subjects of the system account for a user of another one. */
function isWithoutResponders(error: unknown): boolean {
  return (
    nameOf(error) === "NoResponders" ||
    (error instanceof Error && nameOf(error.cause) === "NoResponders")
  );
}
