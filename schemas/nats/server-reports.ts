import { z } from "zod";
import type { Nats } from "./connect.ts";

/** What one NATS server says about itself. */
export type NatsServerReport = {
  /** A new ID at each start. Names do not tell servers apart: copied configurations have the same `server_name`. */
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** Whether it acknowledges a message only after a sync of the disk. */
  readonly syncsAlways: boolean;
  /** Servers of the JetStream cluster, including those that are away; 1 for a server alone. */
  readonly clusterSize: number;
};

const PING = "$SYS.REQ.SERVER.PING.JSZ";
const ANSWERS_WAIT_MS = 2_000;
/** Servers of a cluster answer within a few milliseconds of each other; this is the longest gap. */
const ANSWERS_GAP_MS = 300;
const SERVERS_MAX = 64;
const MONITOR_WAIT_MS = 2_000;
const MONITOR_BYTES_MAX = 1_048_576;

/** Both are left out of the answer where they do not apply. */
const Config = z.object({ sync_always: z.boolean().default(false) });
const Cluster = z.object({ cluster_size: z.int() });

const PingAnswer = z.object({
  server: z.object({ id: z.string(), name: z.string(), ver: z.string() }),
  data: z
    .object({
      disabled: z.boolean().default(false),
      config: Config.optional(),
      meta_cluster: Cluster.optional(),
    })
    .optional(),
});

const Varz = z.object({
  server_id: z.string(),
  server_name: z.string(),
  version: z.string(),
  jetstream: z.object({ config: Config.optional(), meta: Cluster.optional() }).default({}),
});

/**
 * Asks every server of the cluster over a connection of the system account. Servers without JetStream are left out.
 * @throws what the driver throws; "no responders" for a user of another account.
 */
export async function askBySystemAccount({ connection }: Nats): Promise<NatsServerReport[]> {
  const answers = await connection.requestMany(PING, JSON.stringify({ config: true }), {
    strategy: "stall",
    stall: ANSWERS_GAP_MS,
    maxWait: ANSWERS_WAIT_MS,
    maxMessages: SERVERS_MAX,
  });
  const reports: NatsServerReport[] = [];
  for await (const answer of answers) {
    const { server, data } = PingAnswer.parse(answer.json());
    if (data === undefined || data.disabled) continue;
    reports.push({
      id: server.id,
      name: server.name,
      version: server.ver,
      syncsAlways: data.config?.sync_always === true,
      clusterSize: data.meta_cluster?.cluster_size ?? 1,
    });
  }
  return reports;
}

/** Asks the monitoring addresses. Those that do not answer are left out. */
export async function askMonitors(urls: readonly string[]): Promise<NatsServerReport[]> {
  const answers = await Promise.allSettled(urls.map(askMonitor));
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
}

async function askMonitor(url: string): Promise<NatsServerReport> {
  const response = await fetch(new URL("/varz", url), {
    signal: AbortSignal.timeout(MONITOR_WAIT_MS),
    redirect: "error",
  });
  if (!response.ok || response.body === null) {
    throw new Error(`the monitoring address answers ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    const bytes = z.instanceof(Uint8Array).parse(chunk);
    size += bytes.byteLength;
    if (size > MONITOR_BYTES_MAX) throw new Error("the monitoring address answers too much");
    chunks.push(bytes);
  }
  const { server_id, server_name, version, jetstream } = Varz.parse(
    JSON.parse(Buffer.concat(chunks).toString()),
  );
  return {
    id: server_id,
    name: server_name,
    version,
    syncsAlways: jetstream.config?.sync_always === true,
    clusterSize: jetstream.meta?.cluster_size ?? 1,
  };
}
