import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clickhouse, openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import type { ChildServer } from "../system/child-server.ts";
import { findProcesses } from "../system/processes.ts";
import { freePort } from "../system/start-system.ts";
import { until } from "../system/until.ts";
import { type BenchServers, startBenchServers } from "./bench-servers.ts";
import { HOT_AD_ID, type HostileCatalog, type Pattern } from "./hostile-patterns.ts";
import { sendAll } from "./pipelined-load.ts";
import { startIngress, startProcessors } from "./service-processes.ts";
import { StageTimes } from "./stage-times.ts";

/** Microseconds of processor time a request, minus the cost of idling. */
export type StageCosts = {
  readonly ingress: number;
  readonly processors: number;
  /** ClickHouse and NATS. */
  readonly stores: number;
};

export type PatternRun = {
  readonly requests: number;
  /** Bytes of a request. */
  readonly bytes: number;
  readonly costs: StageCosts;
  /** Errors in the stored data. */
  readonly differences: readonly string[];
};

const OFFERS = 200;
const AFFILIATES = 50;
const LINK_KEYS = 5_000;
/** A producer number that no ingress has. */
const HOT_PRODUCER = 60_000;
const IDLE_MS = 3_000;
const STORED_TIMEOUT_MS = 180_000;

/** One ingress and one processors process with their own servers. Their processor time is measured for each pattern of traffic. */
export class HostileWorld {
  readonly catalog: HostileCatalog;
  readonly #port: number;
  readonly #clickhouse: Clickhouse;
  readonly #times: StageTimes<keyof StageCosts>;
  readonly #close: () => Promise<void>;
  #sent = 0;

  private constructor(parts: {
    catalog: HostileCatalog;
    port: number;
    clickhouse: Clickhouse;
    times: StageTimes<keyof StageCosts>;
    close: () => Promise<void>;
  }) {
    this.catalog = parts.catalog;
    this.#port = parts.port;
    this.#clickhouse = parts.clickhouse;
    this.#times = parts.times;
    this.#close = parts.close;
  }

  static async open(): Promise<HostileWorld> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-hostile-"));
    const servers = await startBenchServers(folder);
    const started: ChildServer[] = [];
    const clickhouse = openClickhouse({
      url: servers.env["CLICKHOUSE_URL"] ?? "",
      applicationName: "bench",
      // Inserting a million copies of a click takes long.
      requestTimeoutMs: STORED_TIMEOUT_MS,
    });
    const close = async (): Promise<void> => {
      await clickhouse.close();
      for (const server of started.reverse()) await server.end();
      await servers.stop();
      await rm(folder, { recursive: true, force: true });
    };
    try {
      const catalog = await fillCatalog(servers);
      const port = await freePort();
      started.push(
        await startProcessors(servers, folder),
        await startIngress(servers, folder, port),
      );
      const [processors, ingress] = started.map(({ pid }) => pid);
      const stores = [
        ...(await findProcesses(folder, "clickhouse")),
        ...(await findProcesses(folder, "nats")),
      ];
      const times = new StageTimes<keyof StageCosts>(
        new Map([
          ["ingress", [ingress ?? 0]],
          ["processors", [processors ?? 0]],
          ["stores", stores],
        ]),
      );
      return new HostileWorld({ catalog, port, clickhouse, times, close });
    } catch (error) {
      await close();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  /** Measures what the processes cost while they are idle. */
  async measureIdle(): Promise<void> {
    await this.#times.measureIdle(IDLE_MS);
  }

  /** Sends `requests` requests of a pattern, waits until their clicks are stored, and returns the cost of one. */
  async run(pattern: Pattern, requests: number): Promise<PatternRun> {
    const first = this.#sent;
    this.#sent += requests;
    const storedBefore = await this.#stored();
    const measured = this.#times.start();
    const sent = await sendAll(this.#port, pattern, { first, requests });
    const expected = pattern.isStored ? storedBefore + requests : storedBefore;
    let stored = storedBefore;
    await until(
      `${expected} clicks are stored`,
      async () => (stored = await this.#stored()) >= expected,
      { timeoutMs: STORED_TIMEOUT_MS, pollMs: 250 },
    ).catch(() => undefined);
    const used = measured();
    const differences = [...sent.faults];
    if (stored !== expected) {
      differences.push(
        `${pattern.name}: ${stored - storedBefore} of ${expected - storedBefore} clicks are stored`,
      );
    }
    const twice = await this.#storedTwice();
    if (twice > 0) differences.push(`${pattern.name}: ${twice} clicks are stored twice`);
    const cost = (stage: keyof StageCosts): number => (used.get(stage) ?? 0) / requests;
    return {
      requests,
      bytes: sent.bytes / requests,
      costs: { ingress: cost("ingress"), processors: cost("processors"), stores: cost("stores") },
      differences,
    };
  }

  /** Sends `count` clicks of the normal mix and returns their IDs. */
  async clickIds(pattern: Pattern, count: number): Promise<string[]> {
    await this.run(pattern, count);
    const answer = await this.#clickhouse.query({
      query: `select lower(hex(click_id)) as id from click where status = 'redirect' order by ts desc limit {count: UInt32}`,
      query_params: { count },
      format: "JSONEachRow",
    });
    return (await answer.json<{ id: string }>()).map(({ id }) => id);
  }

  /** Stores `count` copies of a stored click, spread over the last ten minutes, that share the hot ad ID. */
  async storeHotClicks(count: number): Promise<void> {
    await this.#clickhouse.command({
      query: `insert into click
        select one.* replace ({adId: String} as gclid, now64(3) - toIntervalMillisecond(number % 600000) as ts,
          toFixedString(unhex(leftPad(hex(number), 32, '0')), 16) as click_id, {producer: UInt16} as _producer,
          number as _position)
        from numbers({count: UInt64}) as numbered cross join (select * from click where status = 'redirect' limit 1) as one`,
      query_params: { adId: HOT_AD_ID, count, producer: HOT_PRODUCER },
    });
  }

  async #stored(): Promise<number> {
    const answer = await this.#clickhouse.query({
      query: "select count() as rows from click",
      format: "JSONEachRow",
    });
    const [row] = await answer.json<{ rows: number }>();
    return row?.rows ?? 0;
  }

  async #storedTwice(): Promise<number> {
    const answer = await this.#clickhouse.query({
      query: "select count() - uniqExact(click_id) as twice from click",
      format: "JSONEachRow",
    });
    const [row] = await answer.json<{ twice: number }>();
    return row?.twice ?? 0;
  }
}

async function fillCatalog({ env, demo }: BenchServers): Promise<HostileCatalog> {
  const pool = openPool({
    url: env["POSTGRES_URL"] ?? "",
    applicationName: "bench",
    connectionsMax: 1,
  });
  const codes = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, (_, n) => `${prefix}${n + 1}`);
  const catalog = {
    offers: codes("HOSTILE", OFFERS),
    affiliates: codes("HPART", AFFILIATES),
    linkKeys: codes("hostilekey", LINK_KEYS),
    duplicateOffer: "HTWICE",
    token: demo.postback_token,
  };
  const addOffers = `insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency, payout, revenue,
      allowed_domains, fallback_url, duplicate_click_seconds)
    select $1, (select min(id) from advertiser where workspace_id = $1), code, code,
      'https://shop.example.com/landing?cid={click_id}&s={sub1}', 'USD', 1, 2, array['shop.example.com'], 'https://fallback.example/', $3
    from unnest($2::text[]) as code`;
  try {
    const workspace = demo.workspace_id;
    await pool.query({ text: addOffers, values: [workspace, catalog.offers, 0] });
    await pool.query({ text: addOffers, values: [workspace, [catalog.duplicateOffer], 86_400] });
    await pool.query({
      text: `insert into offer_event (offer_id, code, name, revenue, payout, is_default)
        select id, 'default', 'Default', revenue, payout, true from offer where code = any($1)`,
      values: [[...catalog.offers, catalog.duplicateOffer]],
    });
    await pool.query({
      text: `insert into affiliate (workspace_id, code, name, currency)
        select $1, code, code, 'USD' from unnest($2::text[]) as code`,
      values: [workspace, catalog.affiliates],
    });
    await pool.query({
      text: `insert into link_key (workspace_id, key, offer_id, affiliate_id)
        select $1, key, (select min(id) from offer where code = 'HOSTILE1') + (number % $3)::int,
          (select id from affiliate where code = 'HPART1' and workspace_id = $1)
        from unnest($2::text[]) with ordinality as k(key, number)`,
      values: [workspace, catalog.linkKeys, OFFERS],
    });
    return catalog;
  } finally {
    await pool.end();
  }
}
