import { randomBytes } from "node:crypto";
import { request } from "node:http";
import type { FastifyInstance } from "fastify";
import { expect, inject } from "vitest";
import { z } from "zod";
import { insertKey, type NewKey } from "../../../api/access/insert-key.ts";
import type { Role } from "../../../api/access/permissions.ts";
import { createWorkspace } from "../../../api/command-line/workspaces.ts";
import { startApi } from "../../../api/start-api.ts";
import { startConversions } from "../../../processors/conversions/start.ts";
import { postbackKind } from "../../../processors/delivery/postback-kind.ts";
import { startDelivery } from "../../../processors/delivery/start.ts";
import { webhookKind } from "../../../processors/delivery/webhook-kind.ts";
import { Catalog } from "../../../schemas/catalog/catalog.ts";
import { CatalogFeed } from "../../../schemas/catalog-feed/follow.ts";
import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import { OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../../schemas/postgres/migrate.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { createPostgresDatabase, dropPostgresDatabase } from "../../services/fresh-database.ts";
import { expectDescribed } from "../../system/described-answers.ts";

export type Keys = Readonly<Record<Role, string>>;
export type Json = Record<string, unknown>;
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
  readonly text: string;
};

type CallOptions = {
  readonly key?: string | undefined;
  readonly body?: unknown;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

type WorldOptions = {
  readonly rateLimit?: number;
  readonly trustedProxies?: string[];
  /** Whether templates and webhooks may lead to this machine. */
  readonly allowLoopback?: boolean;
  readonly clickRetentionDays?: number;
};

const Data = z.looseObject({ id: z.union([z.int(), z.string()]) });
const Address = z.looseObject({ port: z.int() });
const BASE = "/api/v1";

/** A workspace with a partner, an advertiser and a key of each role. */
export type Tenant = {
  readonly workspaceId: number;
  readonly slug: string;
  readonly affiliateId: number;
  readonly affiliateCode: string;
  readonly advertiserId: number;
  readonly keys: Keys;
};

/**
 * The API over a database of its own on the servers of this run, listening on a free port, with the conversion lane at work.
 * Every answer is held to the OpenAPI document.
 */
export class ApiWorld {
  readonly db: Pool;
  readonly nats: Nats;
  readonly clickhouse: Clickhouse;
  readonly name: string;
  /** The first process of the API; `startAnother` adds to it. */
  origin = "";
  tenant: Tenant;
  readonly #closers: (() => Promise<unknown>)[] = [];
  readonly #log = openLog({ process: "test", level: process.env["TEST_LOG_LEVEL"] ?? "silent" });

  private constructor(parts: { db: Pool; nats: Nats; clickhouse: Clickhouse; name: string }) {
    this.db = parts.db;
    this.nats = parts.nats;
    this.clickhouse = parts.clickhouse;
    this.name = parts.name;
    this.tenant = { ...NOBODY };
  }

  static async open(options: WorldOptions = {}): Promise<ApiWorld> {
    const name = `api_test_${randomBytes(5).toString("hex")}`;
    await createPostgresDatabase(inject("postgresUrl"), name);
    const db = openPool({ url: databaseUrl(name), applicationName: "test" });
    await migratePostgres(db);
    const clickhouse = openClickhouse({
      url: inject("clickhouseUrl"),
      applicationName: "test",
    });
    const nats = await connectNats({ url: inject("natsUrl"), name: "test", prefix: name });
    const world = new ApiWorld({ db, nats, clickhouse, name });
    world.tenant = await world.addTenant("first");
    world.origin = await world.startAnother(options);
    return world;
  }

  /** One more process of the API, as far as its state goes: its own caches and counters. Answers its origin. */
  async startAnother(
    options: WorldOptions & {
      nats?: () => Nats | undefined;
      clickhouse?: Clickhouse;
      db?: Pool;
    } = {},
  ): Promise<string> {
    const outgoing = new OutgoingClient({ allowLoopback: options.allowLoopback ?? false });
    this.#closers.push(() => outgoing.close());
    const app: FastifyInstance = await startApi({
      db: options.db ?? this.db,
      clickhouse: options.clickhouse ?? this.clickhouse,
      nats: options.nats ?? (() => this.nats),
      outgoing,
      log: this.#log,
      trustedProxies: options.trustedProxies ?? [],
      rateLimitPerMinute: options.rateLimit ?? 1_000_000,
      apiUrl: "https://api.example",
      trackingUrl: "http://track.example:8080",
      allowLoopback: options.allowLoopback ?? false,
      clickRetentionDays: options.clickRetentionDays ?? 0,
    });
    await app.listen({ host: "127.0.0.1", port: 0 });
    this.#closers.push(() => app.close());
    const { port } = Address.parse(app.server.address());
    return `http://127.0.0.1:${port}`;
  }

  /** The conversion lane, as processors/main.ts runs it. */
  async startProcessor(): Promise<void> {
    const catalog = new Catalog();
    const feed = await CatalogFeed.start({
      catalog,
      db: this.db,
      log: this.#log,
      metrics: new Metrics(),
    });
    const outgoing = new OutgoingClient({ allowLoopback: false });
    const lane = startConversions({
      pool: this.db,
      nats: this.nats,
      clickhouse: this.clickhouse,
      catalog,
      catalogFeed: feed,
      log: this.#log,
      metrics: new Metrics(),
      signal: new AbortController().signal,
      clock: systemClock,
      outgoing,
    });
    this.#closers.push(async () => {
      await lane.close();
      await outgoing.close();
      await feed.close();
    });
  }

  /** The delivery lane, which reaches this machine and tries again after 50 ms. */
  startDeliveries(): void {
    const waitsMs = [50, 50, 50];
    const outgoing = new OutgoingClient({ allowLoopback: true });
    const lane = startDelivery(
      {
        pool: this.db,
        outgoing,
        clock: systemClock,
        log: this.#log,
        metrics: new Metrics(),
        signal: new AbortController().signal,
      },
      { kinds: [postbackKind(waitsMs), webhookKind(waitsMs, systemClock)] },
    );
    this.#closers.push(async () => {
      await lane.close();
      await outgoing.close();
    });
  }

  /** Settles when the processors know what Postgres holds: a change is in force within a second. */
  async addTenant(slug: string): Promise<Tenant> {
    const workspace = { name: slug, slug, timezone: "UTC", currency: "USD" };
    const { id, adminKey } = await createWorkspace(this.db, workspace);
    const affiliateCode = slug.slice(0, 6).toUpperCase().padEnd(6, "X");
    const affiliateId = await this.insert(
      `insert into affiliate (workspace_id, code, name, currency, approved_at)
       values ($1, $2, 'Partner', 'USD', now()) returning id`,
      [id, affiliateCode],
    );
    const advertiserId = await this.insert(
      `insert into advertiser (workspace_id, name, currency, postback_token) values ($1, 'Advertiser', 'USD', $2) returning id`,
      [id, randomBytes(16).toString("hex")],
    );
    const key = (role: Role, account: Partial<NewKey> = {}) =>
      insertKey(this.db, { workspaceId: id, name: role, role, ...account });
    return {
      workspaceId: id,
      slug,
      affiliateId,
      affiliateCode,
      advertiserId,
      keys: {
        admin: adminKey,
        analyst: await key("analyst"),
        partner: await key("partner", { affiliateId }),
        advertiser: await key("advertiser", { advertiserId }),
      },
    };
  }

  async insert(text: string, values: readonly unknown[]): Promise<number> {
    const { rows } = await this.db.query<{ id: number }>({ text, values });
    return rows[0]?.id ?? 0;
  }

  /** As an admin of the first workspace unless another key is given; `key: undefined` sends none. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    return await this.callAt(this.origin, method, path, options);
  }

  async callAt(
    origin: string,
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<Answer> {
    const key = "key" in options ? options.key : this.tenant.keys.admin;
    const body =
      options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const answer = await fetch(`${origin}${BASE}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    const contentType = answer.headers.get("content-type") ?? "";
    const parsed: unknown =
      contentType.startsWith("application/json") && text !== "" ? JSON.parse(text) : {};
    const { status, headers } = answer;
    expectDescribed({ method, path, status, contentType, headers, body: parsed });
    return {
      status,
      headers,
      text,
      body: z.looseObject({}).parse(parsed),
    };
  }

  async get(path: string, key: string = this.tenant.keys.admin): Promise<Answer> {
    return await this.call("GET", path, { key });
  }

  async post(path: string, body: unknown, key: string = this.tenant.keys.admin): Promise<Answer> {
    return await this.call("POST", path, { key, body });
  }

  async patch(path: string, body: unknown, key: string = this.tenant.keys.admin): Promise<Answer> {
    return await this.call("PATCH", path, { key, body });
  }

  /** An offer with a fixed payout of 10 and a revenue of 15; answers the record. */
  async offer(
    fields: Json = {},
    key: string = this.tenant.keys.admin,
  ): Promise<Json & { id: number }> {
    const answer = await this.post(
      "/offers",
      {
        name: "Offer",
        advertiser_id: this.tenant.advertiserId,
        destination_url: "https://shop.example/?c={click_id}",
        payout: "10",
        revenue: "15",
        ...fields,
      },
      key,
    );
    if (answer.status !== 201) throw new Error(`no offer: ${JSON.stringify(answer.body)}`);
    return z.looseObject({ id: z.int() }).parse(answer.body["data"]);
  }

  /** A path sent byte by byte, which a URL parser would put right first. Answers the status. */
  async rawPath(path: string): Promise<number> {
    const { hostname, port } = new URL(this.origin);
    const headers = { authorization: `Bearer ${this.tenant.keys.admin}` };
    return await new Promise((resolve, reject) => {
      const sent = request({ hostname, port, path, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.on("error", reject).end();
    });
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    await this.nats.connection.close();
    await this.clickhouse.close();
    await this.db.end();
    await dropPostgresDatabase(inject("postgresUrl"), this.name);
  }
}

const NOBODY: Tenant = {
  workspaceId: 0,
  slug: "",
  affiliateId: 0,
  affiliateCode: "",
  advertiserId: 0,
  keys: { admin: "", analyst: "", partner: "", advertiser: "" },
};

/** Places of an expected answer whose value does not matter. */
export const someText: unknown = expect.any(String);
export const someId: unknown = expect.any(Number);

export function containing(items: readonly unknown[]): unknown {
  return expect.arrayContaining([...items]);
}

/** `data` of an answer, as one record. */
export function record({ body }: Answer): Json & { id: number | string } {
  return Data.parse(body["data"]);
}

/** `data` of an answer, as a list. */
export function list({ body }: Answer): (Json & { id: number | string })[] {
  return z.array(Data).parse(body["data"]);
}

/** Of a cursor-paged list: the key is always there (ENV-003). */
export function nextCursor({ body }: Answer): string | null {
  return z.string().nullable().parse(body["next_cursor"]);
}

const Problem = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string().min(1),
    details: z
      .strictObject({
        fields: z.record(z.string(), z.string()).optional(),
        param: z.string().optional(),
        field: z.string().optional(),
      })
      .optional(),
  }),
});

/** Status and code of a refusal, held to the shape of every error (ERR-001). */
export function refusal({ status, body }: Answer): string {
  return `${status} ${Problem.parse(body).error.code}`;
}

export function details({ body }: Answer): {
  fields: Record<string, string>;
  param: string;
  field: string;
} {
  const { fields = {}, param = "", field = "" } = Problem.parse(body).error.details ?? {};
  return { fields, param, field };
}

function databaseUrl(name: string): string {
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return url.toString();
}
