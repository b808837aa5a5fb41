import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { connectFault, hasNoLeader, noJetstream, silentJetstream } from "./errors.ts";
import type { NatsSpace } from "./lane-groups.ts";
import { inboxPrefix, type NatsRole } from "./roles.ts";
import { connectionOptions, type NatsServers, natsHosts, serverCount } from "./servers.ts";
import { STREAM_DEFAULTS, type StreamSettings } from "./stream-settings.ts";
import { type Subjects, subjectsOf } from "./subjects.ts";

export type NatsOptions = NatsServers &
  NatsSpace & {
    /** The name in `nats server report connections`. */
    readonly name: string;
    /** The user that the server knows this process by. Without a role nothing separates its inboxes from other users' inboxes. */
    readonly role?: NatsRole;
    /** For processes that create or change streams. */
    readonly streams?: StreamSettings;
  };

/** The connection of a process, and the subjects and streams of this installation. */
export type Nats = {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: () => Promise<JetStreamManager>;
  readonly subjects: Subjects;
  readonly prefix: string;
  readonly groups: number;
  readonly streams: StreamSettings;
  /** Servers that the settings name. A cluster may have more. */
  readonly serversNamed: number;
};

const RECONNECT_WAIT_MS = 250;
const CONNECT_TIMEOUT_MS = 5_000;
const PING_INTERVAL_MS = 5_000;

/**
 * Connects to one of the servers, and afterwards reconnects for ever, also while a server refuses the login: a password may be changed
 * on both sides one after the other. @throws {NatsError} when the first attempt fails; the caller repeats it.
 */
export async function connectNats(options: NatsOptions): Promise<Nats> {
  const hosts = natsHosts(options.url);
  const connection = await connected(options, hosts);
  try {
    await refuseWithoutJetstream(connection, hosts);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    connection,
    jetstream: jetstream(connection),
    manager: () => managerOf(connection, hosts),
    subjects: subjectsOf(options.prefix),
    prefix: options.prefix,
    groups: options.groups ?? 1,
    streams: options.streams ?? STREAM_DEFAULTS,
    serversNamed: serverCount(options.url),
  };
}

async function managerOf(connection: NatsConnection, hosts: string): Promise<JetStreamManager> {
  try {
    return await jetstreamManager(connection);
  } catch (error) {
    if (hasNoLeader(error)) throw silentJetstream(hosts, error);
    throw error;
  }
}

async function connected(options: NatsOptions, hosts: string): Promise<NatsConnection> {
  try {
    return await connect({
      ...connectionOptions(options),
      name: options.name,
      ...(options.role === undefined ? {} : { inboxPrefix: inboxPrefix(options.role) }),
      reconnect: true,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: RECONNECT_WAIT_MS,
      timeout: CONNECT_TIMEOUT_MS,
      pingInterval: PING_INTERVAL_MS,
      maxPingOut: 2,
      // Otherwise the client captures a stack trace for every request, in case it fails.
      noAsyncTraces: true,
    });
  } catch (error) {
    throw connectFault(error, hosts);
  }
}

/** A server without JetStream of its own may belong to a cluster that has it, so the cluster is asked. */
async function refuseWithoutJetstream(connection: NatsConnection, hosts: string): Promise<void> {
  if (connection.info?.jetstream === true) return;
  try {
    await jetstreamManager(connection);
  } catch (error) {
    if (error instanceof Error && error.name === "JetStreamNotEnabled") throw noJetstream(hosts);
    // A cluster without a leader now: the streams will be back, and everything else works already.
  }
}
