import { z } from "zod";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { ClickhouseProxy } from "../integration/clicks/clickhouse-proxy.ts";
import { type Receiver, startReceiver } from "../integration/outgoing/receiver.ts";
import { ClickLoad } from "../system/click-load.ts";
import { OwnServer } from "../system/own-server.ts";
import { findProcesses, type Job, killJob } from "../system/processes.ts";
import { RawConnection, rawRequest } from "../system/raw-http.ts";
import { serversOf } from "../system/servers-of.ts";
import { type System, startSystem } from "../system/start-system.ts";
import { TcpGate } from "../system/tcp-gate.ts";
import { until } from "../system/until.ts";
import { OrderLedger } from "./order-ledger.ts";

/** The promises of the deep tier have up to 1,000. */
const CLICKS_PER_SECOND = 200;
const SENDERS = 8;
const BUYERS = 4;
const BUYER_PAUSE_MS = 250;
/** With two ingresses, one of them is left out once in a million times. */
const IN_A_ROW = 20;
const Offers = z.object({
  data: z.array(z.looseObject({ code: z.string(), advertiser_id: z.int() })),
});
const Made = z.object({ data: z.object({ id: z.int() }) });

/**
 * One whole service under a steady load, with a ledger of clicks and one of orders. NATS and ClickHouse are servers of the storm, so that a
 * fault of theirs lasts as long as a step wants; each is reached through a proxy that can cut it off. Postgres belongs to the launcher.
 */
export class StormWorld implements AsyncDisposable {
  readonly system: System;
  readonly nats: OwnServer;
  readonly natsGate: TcpGate;
  readonly clickhouse: OwnServer;
  readonly inserts: ClickhouseProxy;
  readonly db: Pool;
  readonly receiver: Receiver;
  readonly clicks: ClickLoad;
  readonly orders: OrderLedger;
  readonly offerId: number;
  readonly #advertiserId: number;

  private constructor(parts: {
    system: System;
    nats: OwnServer;
    natsGate: TcpGate;
    clickhouse: OwnServer;
    inserts: ClickhouseProxy;
    db: Pool;
    receiver: Receiver;
    offerId: number;
    advertiserId: number;
  }) {
    this.system = parts.system;
    this.nats = parts.nats;
    this.natsGate = parts.natsGate;
    this.clickhouse = parts.clickhouse;
    this.inserts = parts.inserts;
    this.db = parts.db;
    this.receiver = parts.receiver;
    this.offerId = parts.offerId;
    this.#advertiserId = parts.advertiserId;
    this.clicks = new ClickLoad(this.linkOf("STORM"));
    const run = `order-${this.clicks.run}`;
    const options = { run, pauseMs: BUYER_PAUSE_MS };
    this.orders = new OrderLedger(this.system.client, this.linkOf("STORM"), options);
  }

  /** Starts everything, and the load. */
  static async open(): Promise<StormWorld> {
    const [nats, clickhouse, receiver] = await Promise.all([
      OwnServer.open("nats"),
      OwnServer.open("clickhouse"),
      startReceiver(),
    ]);
    const natsGate = await TcpGate.open(nats.url);
    const inserts = await ClickhouseProxy.open(clickhouse.url);
    const system = await startSystem({
      env: {
        NATS_URL: natsGate.urlOf(nats.url),
        CLICKHOUSE_URL: inserts.url,
        INGRESS_WORKERS: "2",
        ALLOW_PRIVATE_DESTINATIONS: "1",
      },
    });
    const { postgres } = await serversOf(system);
    const db = openPool({ url: postgres, applicationName: "test", connectionsMax: 2 });
    const { client } = system;
    const { data } = Offers.parse(await client.rest("/offers?limit=50"));
    const advertiserId = data.find(({ code }) => code === "DEMOSHOP")?.advertiser_id ?? 0;
    const parts = { system, nats, natsGate, clickhouse, inserts, db, receiver, advertiserId };
    const offerId = await makeOffer(system, { code: "STORM", advertiser_id: advertiserId });
    for (const place of ["good", "hanging"]) {
      const url = `http://127.0.0.1:${receiver.port}/${place}?c={conversion_id}`;
      await client.create("/postbacks", { offer_id: offerId, url });
    }
    const world = new StormWorld({ ...parts, offerId });
    await world.untilFollowed("STORM");
    world.clicks.start(SENDERS, CLICKS_PER_SECOND);
    world.orders.start(BUYERS);
    return world;
  }

  /** A partner link of an offer, without query. */
  linkOf(code: string): string {
    return `${this.system.client.demo.tracking_url}/r/${code}/DEMOANNA`;
  }

  /** Another offer, whose link works when this answers. */
  async addOffer(code: string, fields: object): Promise<number> {
    const id = await makeOffer(this.system, { code, advertiser_id: this.#advertiserId, ...fields });
    await this.untilFollowed(code);
    return id;
  }

  /** Waits until every ingress redirects the link: the kernel gives a new connection to any ingress, and each reads changes at its own times. */
  async untilFollowed(code: string): Promise<void> {
    const { host, hostname, port, pathname } = new URL(this.linkOf(code));
    const leads = async (): Promise<boolean> => {
      const connection = await RawConnection.open(Number(port), { host: hostname });
      try {
        connection.send(rawRequest(pathname, { host, headers: ["User-Agent: curl/8"] }));
        return (await connection.answer())?.status === 302;
      } finally {
        connection.destroy();
      }
    };
    let inRow = 0;
    await until(
      `the link of ${code} redirects ${IN_A_ROW} times in a row`,
      async () => {
        inRow = (await leads()) ? inRow + 1 : 0;
        return inRow >= IN_A_ROW;
      },
      { pollMs: 10 },
    );
  }

  /** Waits until this many more clicks are answered, and this many more orders accepted: the service works. */
  async untilMore(clicks: number, orders: number): Promise<void> {
    const before = [this.clicks.answered.size, this.orders.accepted.size] as const;
    const isMore = (): boolean =>
      this.clicks.answered.size >= before[0] + clicks &&
      this.orders.accepted.size >= before[1] + orders;
    await until(`${clicks} more clicks and ${orders} more orders`, isMore, { timeoutMs: 90_000 });
  }

  /** The api starts again after the ingress, so clicks and orders do not tell. */
  async untilApiAnswers(): Promise<void> {
    const { origin } = new URL(this.system.client.demo.base_url);
    await until("the api answers", async () => (await fetch(`${origin}/health`)).ok);
  }

  /** Sends SIGKILL to all processes of the launcher's jobs at once. */
  async kill(jobs: readonly Job[]): Promise<void> {
    await Promise.all(jobs.map((job) => killJob(this.system.dataDir, job)));
  }

  async pidsOf(job: Job): Promise<number[]> {
    return await findProcesses(this.system.dataDir, job);
  }

  async stopLoad(): Promise<void> {
    await Promise.all([this.clicks.stop(), this.orders.stop()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopLoad().catch(() => undefined);
    await this.db.end();
    await this.system[Symbol.asyncDispose]();
    await this.natsGate.shut();
    await this.inserts.close();
    await this.receiver.close();
    await Promise.all([this.nats, this.clickhouse].map((server) => server[Symbol.asyncDispose]()));
  }
}

async function makeOffer({ client }: System, fields: object): Promise<number> {
  const made = await client.create("/offers", {
    name: "An offer of the storm",
    destination_url: "https://shop.example/?c={click_id}",
    payout: "10",
    revenue: "15",
    ...fields,
  });
  return Made.parse(made).data.id;
}
