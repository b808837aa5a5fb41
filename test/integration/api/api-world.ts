import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { expect } from "vitest";
import { z } from "zod";
import { insertKey, type NewKey } from "../../../api/access/insert-key.ts";
import { createWorkspace } from "../../../api/cli/workspaces.ts";
import type { BodyLimits } from "../../../api/http/file-bodies.ts";
import type { StreamLimits } from "../../../api/http/run-operation.ts";
import type { Role } from "../../../api/operation/permissions.ts";
import type { MailSettings } from "../../../api/people/mailer.ts";
import type { OidcSettings } from "../../../api/people/oidc-client.ts";
import { startApi } from "../../../api/start-api.ts";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { Log } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import { OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import type { SecretKeys } from "../../../schemas/secrets/secret-keys.ts";
import { secretKeys } from "../../samples/secret-keys.ts";
import {
  conversionLane,
  deliveryLane,
  type FollowedCatalog,
  followCatalog,
} from "../../services/lanes.ts";
import { openStores, Stores, testLog } from "../../services/stores.ts";
import { callDescribed } from "../../system/described-answers.ts";

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
  readonly consoleSecret?: string | undefined;
  readonly oidc?: OidcSettings;
  readonly mail?: MailSettings;
  /** Default: https://api.example. */
  readonly apiUrl?: string;
};

const Body = z.looseObject({});
const Data = z.looseObject({ id: z.union([z.int(), z.string()]) });
const Address = z.looseObject({ port: z.int() });
const BASE = "/api/v1";
const CONSOLE_SECRET = "a secret of the console of the tests";
export const API_URL = "https://api.example";

/** A workspace with a partner, an advertiser and a key of each role. */
export type Tenant = {
  readonly workspaceId: number;
  readonly slug: string;
  readonly affiliateId: number;
  readonly affiliateCode: string;
  readonly advertiserId: number;
  readonly keys: Keys;
};

/** The API on stores of its own, listening on a free port. Every answer is held to the OpenAPI document. */
export class ApiWorld extends Stores {
  /** The first process of the API; `startAnother` adds to it. */
  origin = "";
  readonly #followed: FollowedCatalog[] = [];
  tenant: Tenant = { ...NOBODY };

  static async open(options: WorldOptions = {}): Promise<ApiWorld> {
    const world = new ApiWorld(await openStores({ label: "api" }));
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
      streamLimits?: StreamLimits;
      bodyLimits?: BodyLimits;
      log?: Log;
      mcpOrigins?: readonly string[];
      secretKeys?: SecretKeys;
    } = {},
  ): Promise<string> {
    const outgoing = new OutgoingClient({ allowLoopback: options.allowLoopback ?? false });
    this.atEnd(() => outgoing.close());
    const app = await startApi({
      metrics: new Metrics(),
      db: options.db ?? this.pool,
      clickhouse: options.clickhouse ?? this.clickhouse,
      nats: options.nats ?? (() => this.nats),
      outgoing,
      log: testLog(),
      secretKeys: secretKeys(),
      ...stated(options),
      trustedProxies: options.trustedProxies ?? [],
      rateLimitPerMinute: options.rateLimit ?? 1_000_000,
      apiUrl: options.apiUrl ?? API_URL,
      console: {
        secret: "consoleSecret" in options ? options.consoleSecret : CONSOLE_SECRET,
        oidc: options.oidc,
        mail: options.mail,
      },
      trackingUrl: "http://track.example:8080",
      allowLoopback: options.allowLoopback ?? false,
      clickRetentionDays: options.clickRetentionDays ?? 0,
      streamLimits: options.streamLimits,
      bodyLimits: options.bodyLimits,
    });
    await app.listen({ host: "127.0.0.1", port: 0 });
    this.atEnd(() => app.close());
    const { port } = Address.parse(app.server.address());
    return `http://127.0.0.1:${port}`;
  }

  /** Starts the conversion lane. */
  async startProcessor(): Promise<void> {
    const followed = await followCatalog(this.pool);
    this.#followed.push(followed);
    this.atEnd(() => followed.feed.close());
    const lane = conversionLane(this, followed);
    this.atEnd(() => lane.close());
  }

  /** Starts the delivery lane, which reaches this machine and tries again after 50 ms. */
  startDeliveries(): void {
    const lane = deliveryLane(this);
    this.atEnd(() => lane.close());
  }

  /** Settles when the processors know what Postgres holds. Without it, a change is in force within a second. */
  async untilProcessorsKnow(): Promise<void> {
    for (const { feed } of this.#followed) await feed.refresh();
  }

  /** The catalog of the conversion processor; after {@link startProcessor}. */
  get processorCatalog(): Catalog {
    const [followed] = this.#followed;
    if (followed === undefined) throw new Error("no processor follows the catalog");
    return followed.catalog;
  }

  async addTenant(slug: string): Promise<Tenant> {
    const workspace = { name: slug, slug, timezone: "UTC", currency: "USD" };
    const { id, adminKey } = await createWorkspace(this.pool, workspace);
    const affiliateCode = slug.slice(0, 6).toUpperCase().padEnd(6, "X");
    const ofWorkspace = { workspace_id: id, currency: "USD" };
    const affiliateId = await this.insert("affiliate", {
      ...ofWorkspace,
      code: affiliateCode,
      name: "Partner",
      approved_at: "now",
    });
    const advertiserId = await this.insert("advertiser", {
      ...ofWorkspace,
      name: "Advertiser",
      postback_token: randomBytes(16).toString("hex"),
    });
    const key = (role: Role, account: Partial<NewKey> = {}) =>
      insertKey(this.pool, { workspaceId: id, name: role, role, ...account });
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

  /** Calls as an admin of the first workspace unless another key is given; `key: undefined` sends none. */
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
    const answer = await callDescribed(`${origin}${BASE}`, { ...options, method, path, key });
    return { ...answer, body: typeof answer.body === "string" ? {} : Body.parse(answer.body) };
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

  /** Other terms of an offer for the partner: a revenue of 1 and this payout. */
  async overridePayout(offerId: number, payoutType: string, payout: string): Promise<void> {
    const { workspaceId, affiliateId } = this.tenant;
    await this.insert("payout_override", {
      workspace_id: workspaceId,
      offer_id: offerId,
      affiliate_id: affiliateId,
      payout_type: payoutType,
      payout,
      revenue_type: "rpa",
      revenue: 1,
    });
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
}

/** What a process of the API is given only by some tests. */
function stated({
  log,
  mcpOrigins,
  secretKeys: keys,
}: {
  readonly log?: Log;
  readonly mcpOrigins?: readonly string[];
  readonly secretKeys?: SecretKeys;
}): {
  readonly log?: Log;
  readonly mcpOrigins?: readonly string[];
  readonly secretKeys?: SecretKeys;
} {
  return {
    ...(log && { log }),
    ...(mcpOrigins && { mcpOrigins }),
    ...(keys && { secretKeys: keys }),
  };
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

export function textWith(part: string): unknown {
  return expect.stringContaining(part);
}

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

/** A cursor-paged list always has this key (ENV-003). */
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
