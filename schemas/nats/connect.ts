import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { type Subjects, subjectsOf } from "./subjects.ts";

export type NatsOptions = {
  /** `nats://user:password@host:port`, several separated by commas; the user of the first one is used for all. */
  readonly url: string;
  /** The name in `nats server report connections`. */
  readonly name: string;
  readonly prefix: string;
};

/** The connection of a process, and the subjects and streams of this installation. */
export type Nats = {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: () => Promise<JetStreamManager>;
  readonly subjects: Subjects;
  readonly prefix: string;
};

const RECONNECT_WAIT_MS = 250;
const CONNECT_TIMEOUT_MS = 5_000;
const PING_INTERVAL_MS = 5_000;

/** Connects, and afterwards reconnects for ever. @throws when the first attempt fails; the caller repeats it. */
export async function connectNats(options: NatsOptions): Promise<Nats> {
  const connection = await connect({
    ...natsServers(options.url),
    name: options.name,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    // Otherwise the client captures a stack trace for every request, in case it fails.
    noAsyncTraces: true,
  });
  return {
    connection,
    jetstream: jetstream(connection),
    manager: () => jetstreamManager(connection),
    subjects: subjectsOf(options.prefix),
    prefix: options.prefix,
  };
}

/** The client does not read the user from the URL. */
export function natsServers(urls: string): {
  readonly servers: string[];
  readonly user?: string;
  readonly pass?: string;
} {
  const all = urls.split(",").map((text) => new URL(text.trim()));
  const [first] = all;
  const servers = all.map(({ protocol, host }) => `${protocol}//${host}`);
  if (first === undefined || first.username === "") return { servers };
  return {
    servers,
    user: decodeURIComponent(first.username),
    pass: decodeURIComponent(first.password),
  };
}
