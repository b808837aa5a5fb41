import type { FastifyInstance } from "fastify";
import type {
  Clickhouse,
  ClickhouseEditor,
  ClickhouseReader,
} from "../schemas/clickhouse/connect.ts";
import type { AccessLog } from "../schemas/host/access-log.ts";
import type { Log } from "../schemas/host/log.ts";
import type { Metrics } from "../schemas/host/metrics.ts";
import { readSecret } from "../schemas/installation/read-secret.ts";
import type { Nats } from "../schemas/nats/connect.ts";
import { parseTrustedProxies } from "../schemas/net/forwarded-for.ts";
import type { OutgoingClient } from "../schemas/outgoing/outgoing-client.ts";
import type { Pool } from "../schemas/postgres/connect.ts";
import type { SecretKeys } from "../schemas/secrets/secret-keys.ts";
import type { Tracing } from "../schemas/tracing/tracing.ts";
import { ApiKeys } from "./access/api-keys.ts";
import { KeyGuesses } from "./access/key-guesses.ts";
import { RateLimiter } from "./access/rate-limiter.ts";
import { ownOrigins } from "./access/same-origin.ts";
import { SessionCookie } from "./access/session-cookie.ts";
import { SessionTokens } from "./access/session-tokens.ts";
import { Sessions } from "./access/sessions.ts";
import { type ConsoleFiles, serveConsole } from "./console/serve-console.ts";
import { serveGuide } from "./docs/guide/serve-guide.ts";
import { ServedOpenApi } from "./docs/openapi/served-openapi.ts";
import { FRAMED_PAGE_POLICY } from "./docs/page-frame/page-frame.ts";
import { serveFrameAssets } from "./docs/page-frame/serve-assets.ts";
import { referenceTexts } from "./docs/reference/reference-pages.ts";
import type { BodyLimits } from "./http/file-bodies.ts";
import { RequestMetrics } from "./http/request-metrics.ts";
import type { StreamLimits } from "./http/run-operation.ts";
import { BASE_PATH, buildRestServer, type PublicDocument } from "./http/server.ts";
import { openSlots } from "./http/slots/clickhouse-slots.ts";
import { SharedPages } from "./http/slots/shared-pages.ts";
import { StaticText } from "./http/static-text.ts";
import { addMcpServer } from "./mcp/mcp-server.ts";
import { Cursors } from "./operation/cursor.ts";
import { SealedBox } from "./operation/sealed-box.ts";
import { operations } from "./operations.ts";
import { MailLoop } from "./people/mail-loop.ts";
import { Mailer, type MailSettings } from "./people/mailer.ts";
import type { OidcClient, OidcSettings } from "./people/oidc-client.ts";
import { PasswordHasher } from "./people/password-hasher.ts";
import { type PeopleParts, peopleRequests } from "./people/people-request.ts";
import { ClickTotalsFeed } from "./traffic/cap-usage/click-totals.ts";
import { UpdateRunner } from "./workspace/conversion-updates/update-runner.ts";
import { openImports } from "./workspace/imports/open-imports.ts";

export type ApiParts = {
  readonly db: Pool;
  readonly clickhouse: Clickhouse;
  /** For reports and look-ups. Default: `clickhouse`. */
  readonly reader?: ClickhouseReader;
  readonly nats: () => Nats | undefined;
  readonly outgoing: OutgoingClient;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly trustedProxies: readonly string[];
  readonly rateLimitPerMinute: number;
  /** MCP_ORIGINS. Default: none but its own. */
  readonly mcpOrigins?: readonly string[] | undefined;
  readonly apiUrl: string;
  readonly trackingUrl: string;
  readonly allowLoopback: boolean;
  readonly areStoresSame?: () => boolean | undefined;
  readonly accessLog?: AccessLog | undefined;
  readonly tracing?: Tracing | undefined;
  readonly secretKeys: SecretKeys;
  /** Default 0: never erased. */
  readonly clickRetentionDays?: number;
  readonly streamLimits?: StreamLimits | undefined;
  readonly bodyLimits?: BodyLimits | undefined;
  /** How people sign in, and the build of the pages. */
  readonly console?: {
    readonly files?: ConsoleFiles | undefined;
    readonly secret: string | undefined;
    readonly oidc?: OidcSettings | undefined;
    readonly mail?: MailSettings | undefined;
  };
};

/** Attempts of an address to sign in, a minute. */
const SIGN_INS_PER_MINUTE = 30;

async function peopleParts(
  { db, apiUrl, console }: ApiParts,
  secret: string,
): Promise<PeopleParts> {
  return {
    cookie: new SessionCookie(apiUrl),
    tokens: new SessionTokens(secret),
    hasher: new PasswordHasher(),
    attempts: new RateLimiter(db, SIGN_INS_PER_MINUTE),
    oidc: console?.oidc && (await openOidc(console.oidc, apiUrl)),
    mailer: console?.mail === undefined ? undefined : new Mailer(console.mail),
    box: console?.secret === undefined ? undefined : new SealedBox(console.secret),
  };
}

/** Its library is loaded only where people sign in with a provider. */
async function openOidc(settings: OidcSettings, apiUrl: string): Promise<OidcClient> {
  const { OidcClient } = await import("./people/oidc-client.ts");
  return new OidcClient(settings, apiUrl);
}

/** Builds the API over migrated stores and reads the installation's secret. It does not listen yet. */
export async function startApi(parts: ApiParts): Promise<FastifyInstance> {
  const { db, clickhouse, nats, outgoing, log, apiUrl, trackingUrl, allowLoopback } = parts;
  const { clickRetentionDays = 0, reader = clickhouse } = parts;
  const editor: ClickhouseEditor = {
    cluster: reader.cluster,
    query: async (params) => await reader.query(params),
    command: async (params) => await clickhouse.command(params),
  };
  const slots = openSlots(db);
  const metrics = new RequestMetrics(parts.metrics);
  const secret = await readSecret(db);
  const people = await peopleParts(parts, secret);
  const clickTotals = new ClickTotalsFeed(nats, log);
  clickTotals.follow();
  const stores = {
    db,
    clickhouse: editor,
    nats,
    clickTotals,
    outgoing,
    log,
    cursors: new Cursors(secret),
    secretKeys: parts.secretKeys,
    sendsMail: people.mailer !== undefined,
    settings: { apiUrl, trackingUrl, allowLoopback, clickRetentionDays },
  };
  const files = openFileRunners(stores, parts.metrics);
  const served = {
    ...stores,
    imports: files.signals,
    keys: new ApiKeys(db),
    slots: { ...slots, reports: metrics.measured(slots.reports) },
    pages: new SharedPages(editor),
    rates: new RateLimiter(db, parts.rateLimitPerMinute),
    guesses: new KeyGuesses(parts.rateLimitPerMinute),
    trustedProxies: parseTrustedProxies(parts.trustedProxies),
  };
  const origins = ownOrigins(apiUrl);
  const app = buildRestServer({
    ...served,
    people: peopleRequests(people),
    sessionAdmission: {
      sessions: new Sessions(db, people.tokens),
      cookie: people.cookie,
      origins,
    },
    metrics,
    areStoresSame: parts.areStoresSame,
    streamLimits: parts.streamLimits,
    bodyLimits: parts.bodyLimits,
    accessLog: parts.accessLog,
    tracing: parts.tracing,
    operations,
    documents: publicDocuments(`${apiUrl}${BASE_PATH}`),
  });
  addMcpServer(app, { ...served, origins: new Set([...origins, ...(parts.mcpOrigins ?? [])]) });
  await serveFrameAssets(app);
  await serveGuide(app, { apiUrl, trackingUrl });
  const consoleFiles = parts.console?.files;
  if (consoleFiles !== undefined) serveConsole(app, { files: consoleFiles, apiUrl });
  const mails = people.mailer && new MailLoop({ db, mailer: people.mailer, log });
  // Before the listener waits for open connections, so that another process continues an import meanwhile.
  app.addHook("preClose", async () => {
    await Promise.all([files.close(), mails?.close()]);
  });
  app.addHook("onClose", () => slots.close());
  files.start();
  mails?.start();
  return app;
}

/** What carries out files in this process, and how operations call it. */
function openFileRunners(stores: Parameters<typeof openImports>[0], metrics: Metrics) {
  const { runner, signals } = openImports(stores, metrics);
  const updates = new UpdateRunner(stores);
  const due = (): void => {
    signals.due();
    updates.wake();
  };
  return {
    signals: { ...signals, due },
    start: (): void => {
      runner.start();
      updates.start();
    },
    close: async (): Promise<void> => {
      await Promise.all([runner.close(), updates.close()]);
    },
  };
}

/** The OpenAPI document, and the reference made from it. */
function publicDocuments(baseUrl: string): PublicDocument[] {
  const served = new ServedOpenApi({ operations, baseUrl });
  const prepare = async (): Promise<void> => await served.prepare();
  const json = new StaticText("application/json; charset=utf-8", () =>
    JSON.stringify(served.document),
  );
  const pages = referenceTexts(() => served.document, BASE_PATH).map(({ path, isPage, text }) => ({
    path,
    prepare,
    text,
    headers: {
      "cache-control": "no-cache",
      ...(isPage ? { "content-security-policy": FRAMED_PAGE_POLICY } : {}),
    },
  }));
  return [
    { path: "/openapi.json", prepare, text: json, headers: { "cache-control": "no-store" } },
    ...pages,
  ];
}
