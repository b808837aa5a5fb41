import type { FastifyInstance } from "fastify";
import type { Clickhouse } from "../schemas/clickhouse/connect.ts";
import type { AccessLog } from "../schemas/host/access-log.ts";
import type { Log } from "../schemas/host/log.ts";
import { readSecret } from "../schemas/installation/read-secret.ts";
import type { Nats } from "../schemas/nats/connect.ts";
import { parseTrustedProxies } from "../schemas/net/forwarded-for.ts";
import type { OutgoingClient } from "../schemas/outgoing/outgoing-client.ts";
import type { Pool } from "../schemas/postgres/connect.ts";
import { ApiKeys } from "./access/api-keys.ts";
import { KeyGuesses } from "./access/key-guesses.ts";
import { RateLimiter } from "./access/rate-limiter.ts";
import { addMcpServer } from "./mcp/mcp-server.ts";
import { operations } from "./operations.ts";
import { REFERENCE_PAGE_POLICY, referencePage } from "./reference/reference-page.ts";
import { openSlots } from "./reports/clickhouse-slots.ts";
import { SharedPages } from "./reports/shared-pages.ts";
import { Cursors } from "./rest/cursor.ts";
import { buildOpenApi } from "./rest/openapi.ts";
import type { StreamLimits } from "./rest/run-operation.ts";
import { BASE_PATH, buildRestServer } from "./rest/server.ts";

export type ApiParts = {
  readonly db: Pool;
  readonly clickhouse: Clickhouse;
  readonly nats: () => Nats | undefined;
  readonly outgoing: OutgoingClient;
  readonly log: Log;
  readonly trustedProxies: readonly string[];
  readonly rateLimitPerMinute: number;
  readonly apiUrl: string;
  readonly trackingUrl: string;
  readonly allowLoopback: boolean;
  readonly areStoresSame?: () => boolean | undefined;
  readonly accessLog?: AccessLog | undefined;
  /** Default 0: never erased. */
  readonly clickRetentionDays?: number;
  readonly streamLimits?: StreamLimits | undefined;
};

/** Builds the API over migrated stores and reads the installation's secret. It does not listen yet. */
export async function startApi(parts: ApiParts): Promise<FastifyInstance> {
  const { db, clickhouse, nats, outgoing, log, apiUrl, trackingUrl, allowLoopback } = parts;
  const { clickRetentionDays = 0 } = parts;
  const document = buildOpenApi({ operations, baseUrl: `${apiUrl}${BASE_PATH}` });
  const slots = openSlots(db);
  const served = {
    db,
    clickhouse,
    nats,
    outgoing,
    log,
    cursors: new Cursors(await readSecret(db)),
    keys: new ApiKeys(db),
    slots,
    pages: new SharedPages(clickhouse),
    rates: new RateLimiter(db, parts.rateLimitPerMinute),
    guesses: new KeyGuesses(parts.rateLimitPerMinute),
    trustedProxies: parseTrustedProxies(parts.trustedProxies),
    settings: { apiUrl, trackingUrl, allowLoopback, clickRetentionDays },
  };
  const app = buildRestServer({
    ...served,
    areStoresSame: parts.areStoresSame,
    streamLimits: parts.streamLimits,
    accessLog: parts.accessLog,
    operations,
    documents: [
      {
        path: "/openapi.json",
        contentType: "application/json; charset=utf-8",
        body: JSON.stringify(document),
      },
      {
        path: "/docs",
        contentType: "text/html; charset=utf-8",
        body: referencePage(document),
        headers: { "content-security-policy": REFERENCE_PAGE_POLICY },
      },
    ],
  });
  addMcpServer(app, served);
  app.addHook("onClose", () => slots.close());
  return app;
}
