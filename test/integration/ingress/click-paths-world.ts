import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { startApi } from "../../../api/start-api.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { ensureStreams } from "../../../schemas/nats/streams.ts";
import { OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import { secretKeys } from "../../samples/secret-keys.ts";
import { FIREFOX } from "../../samples/user-agents.ts";
import { metricAt } from "../../services/metric-at.ts";
import { testLog } from "../../services/stores.ts";
import { untilCurrent } from "../../services/until-current.ts";
import { ChildServer } from "../../system/child-server.ts";
import { ingressProgram, nodeProgram } from "../../system/service-program.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { TrackingWorld } from "../conversions/tracking-world.ts";
import { type Answer, clickIdOf, lineOf } from "./click-answer.ts";

/** A workspace with an advertiser, one active partner and a key. */
export type Tenant = {
  readonly id: number;
  readonly adminKey: string;
  readonly postbackToken: string;
  readonly advertiserId: number;
  /** Its code is {@link PARTNER}. */
  readonly affiliateId: number;
};

/** How a request is sent. */
export type Asking = {
  readonly method?: string;
  readonly host?: string;
  /** Who the trusted proxy says the visitor is; "" for a request without a proxy. */
  readonly ip?: string;
  /** "" for none. */
  readonly userAgent?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

type Program = "ingress" | "processors";
type ProgramPorts = { readonly own: number; readonly ops: number };
type Columns = Readonly<Record<string, unknown>>;
export type Click = Readonly<Record<string, string | number | boolean>>;

const Row = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
const Detail = z.object({
  data: z.object({
    click: Row,
    extra: z.record(z.string(), z.string()),
    conversions: z.array(z.looseObject({ id: z.string(), status: z.string() })),
  }),
});
export type Detail = z.infer<typeof Detail>["data"];
const List = z.object({ data: z.array(Row) });
const Written = z.object({ data: z.unknown() });
const Outcome = z.looseObject({ ok: z.boolean() });

const CONNECTIONS_MAX = 16;
/** A Location may have 4,096 characters of twelve bytes. */
const ANSWER_HEAD_BYTES_MAX = 65_536;
const VISIBLE_MS = 10_000;
/** The API itself waits 2 s for a click that is on its way. */
const REST_ATTEMPTS_MAX = 5;

export const PARTNER = "PART01";
/** The proxy through which the requests come. */
const PROXY = "127.0.0.1/32";
const REQUESTS_PER_MINUTE = 1_000_000;
/** Nobody has listed it: it serves every workspace (G153). */
const HOST = "trk.test.example";
/** Private customers of two access networks. */
export const GERMAN_IP = "91.64.10.10";
export const AMERICAN_IP = "73.162.12.13";

/**
 * Ingress and processors as real processes (`npm run build` first) on databases of their own, and the API in this one. The catalog is
 * written to Postgres; requests go out as they are given, through a trusted proxy.
 */
export class ClickPathsWorld {
  readonly store: TrackingWorld;
  readonly #processes = new Map<Program, ChildServer>();
  readonly #ports: Readonly<Record<Program, ProgramPorts>>;
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #api: ApiPart;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });

  private constructor(
    store: TrackingWorld,
    folder: string,
    options: {
      readonly ports: Readonly<Record<Program, ProgramPorts>>;
      readonly env: Readonly<Record<string, string>>;
      readonly api: ApiPart;
    },
  ) {
    this.#api = options.api;
    this.store = store;
    this.#folder = folder;
    this.#ports = options.ports;
    this.#env = options.env;
  }

  /** `env` is added to the settings of every process. */
  static async open({ env = {} }: { env?: Record<string, string> } = {}): Promise<ClickPathsWorld> {
    const store = await TrackingWorld.open({ lanes: 0 });
    await ensureStreams(store.nats);
    const folder = await mkdtemp(join(tmpdir(), "tracker-click-paths-"));
    const pick = async (): Promise<ProgramPorts> => ({
      own: await freePort(),
      ops: await freePort(),
    });
    const ports = { ingress: await pick(), processors: await pick() };
    const api = await openApi(store, env["ALLOW_PRIVATE_DESTINATIONS"] === "1");
    const world = new ClickPathsWorld(store, folder, { ports, env, api });
    await Promise.all([world.#start("processors"), world.#start("ingress")]);
    return world;
  }

  async #start(name: Program): Promise<void> {
    const command = name === "ingress" ? await ingressProgram() : nodeProgram(name);
    const { ops } = this.#ports[name];
    const server = await ChildServer.start(command, `http://127.0.0.1:${ops}/readyz`, {
      ...this.store.env,
      DATA_DIR: this.#folder,
      TRACKING_PORT: String(this.#ports.ingress.own),
      OPS_PORT: String(ops),
      TRUSTED_PROXIES: PROXY,
      RATE_LIMIT_PER_MINUTE: String(REQUESTS_PER_MINUTE),
      LOG_LEVEL: "warn",
      ...this.#env,
    });
    this.#processes.set(name, server);
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    // The ingress first, so that what it still ships finds the others at work.
    await this.#end("ingress");
    await this.#api.close();
    await this.#end("processors");
    await this.store.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Ends the processors; they are up again when this answers what `work` does. */
  async withoutProcessors<T>(work: () => Promise<T>): Promise<T> {
    await this.#end("processors");
    const result = await work();
    await this.#start("processors");
    return result;
  }

  freezeIngress(): void {
    this.#processes.get("ingress")?.signal("SIGSTOP");
  }

  async killIngress(): Promise<void> {
    await this.#end("ingress", "SIGKILL");
    await this.#start("ingress");
  }

  async #end(name: Program, signal?: NodeJS.Signals): Promise<void> {
    await this.#processes.get(name)?.end(signal);
  }

  /** `columns`: further columns of the workspace besides its name and token. */
  async addTenant(slug: string, columns: Columns = {}): Promise<Tenant> {
    const postbackToken = `token-of-${slug}`;
    const workspace = { slug, name: slug, postback_token: postbackToken, ...columns };
    const id = await this.store.insert("workspace", workspace);
    const adminKey = await insertKey(this.store.pool, {
      workspaceId: id,
      name: "test",
      role: "admin",
    });
    const advertiserId = await this.addAdvertiser(id, `advertiser-of-${slug}`);
    const affiliateId = await this.addAffiliate(id, PARTNER);
    return { id, adminKey, postbackToken, advertiserId, affiliateId };
  }

  async addAdvertiser(workspaceId: number, token: string, columns: Columns = {}): Promise<number> {
    return await this.store.insert("advertiser", {
      workspace_id: workspaceId,
      name: token,
      currency: "USD",
      postback_token: token,
      ...columns,
    });
  }

  async addAffiliate(workspaceId: number, code: string, columns: Columns = {}): Promise<number> {
    return await this.store.insert("affiliate", {
      workspace_id: workspaceId,
      code,
      name: code,
      currency: "USD",
      ...columns,
    });
  }

  /** An active public offer at shop.example, unless `columns` say otherwise. */
  async addOffer(tenant: Tenant, code: string, columns: Columns = {}): Promise<number> {
    return await this.store.addOffer({
      workspace_id: tenant.id,
      advertiser_id: tenant.advertiserId,
      code,
      name: code,
      ...columns,
    });
  }

  /** A smart link with rules of offers, each with its weight. */
  async addSmartLink(tenant: Tenant, code: string, columns: Columns): Promise<number> {
    const { rules, ...others } = columns;
    return await this.store.insert("smart_link", {
      workspace_id: tenant.id,
      code,
      name: code,
      rules: JSON.stringify(rules ?? []),
      ...others,
    });
  }

  /** Answers when ingress and processors work by the catalog as it is now. */
  async untilCurrent(): Promise<void> {
    await untilCurrent(this.store, [this.#ports.ingress.ops, this.#ports.processors.ops]);
  }

  /** A metric of a process; NaN if it is absent. */
  async metric(name: Program, series: string): Promise<number> {
    return await metricAt(this.#ports[name].ops, series);
  }

  /** Sends the target as it is: nothing is normalised or encoded. */
  async ask(target: string, asking: Asking = {}): Promise<Answer> {
    const { method = "GET", host = HOST, ip = GERMAN_IP, userAgent = FIREFOX, body = "" } = asking;
    const headers = {
      host,
      ...(ip === "" ? {} : { "x-forwarded-for": ip }),
      ...(userAgent === "" ? {} : { "user-agent": userAgent }),
      ...(body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) }),
      ...asking.headers,
    };
    const place = {
      hostname: "127.0.0.1",
      port: this.#ports.ingress.own,
      agent: this.#agent,
      maxHeaderSize: ANSWER_HEAD_BYTES_MAX,
    };
    return await new Promise((resolve, reject) => {
      const sent = request({ ...place, path: target, method, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.once("error", reject);
        answer.once("end", () => {
          resolve({
            status: answer.statusCode ?? 0,
            headers: pairsOf(answer.rawHeaders),
            body: Buffer.concat(chunks).toString("utf8"),
          });
        });
      });
      sent.once("error", reject).end(body);
    });
  }

  /** The click that an answer names in its cookie, as GET /clicks/{id} has it at once. */
  async clickOf(answer: Answer, tenant: Tenant): Promise<Click> {
    return (await this.detailOf(answer, tenant)).click;
  }

  async detailOf(answer: Answer, tenant: Tenant): Promise<Detail> {
    const id = clickIdOf(answer);
    if (id === "") throw new Error(`no click id in ${JSON.stringify(answer)}`);
    return Detail.parse(await this.rest(`/clicks/${id}`, tenant.adminKey)).data;
  }

  /** A partner link without `url=` is asked for; answers where it leads and what is recorded. */
  async follow(target: string, tenant: Tenant, asking: Asking = {}): Promise<[string, Click]> {
    const answer = await this.ask(target, asking);
    return [lineOf(answer), await this.clickOf(answer, tenant)];
  }

  /** Clicks of the list that a query selects, as soon as there are `count` of them. */
  async listed(query: string, tenant: Tenant, count = 1): Promise<Click[]> {
    const list = async (): Promise<Click[] | undefined> => {
      const { data } = List.parse(await this.rest(`/clicks?limit=1000&${query}`, tenant.adminKey));
      return data.length >= count ? data : undefined;
    };
    return await until(`${count} clicks with ${query}`, list, {
      timeoutMs: VISIBLE_MS,
      pollMs: 50,
    });
  }

  /** Waits until the lists have every click that was answered before now (G264). */
  async untilListed({ adminKey }: Tenant): Promise<void> {
    const nowMs = Date.now();
    const isComplete = async (): Promise<boolean> => {
      const { headers } = await fetch(`${this.#api.origin}/api/v1/clicks?limit=1`, {
        headers: { authorization: `Bearer ${adminKey}` },
      });
      return Date.parse(headers.get("x-tracker-complete-until") ?? "") > nowMs;
    };
    await until("lists have every click", isComplete, { timeoutMs: VISIBLE_MS, pollMs: 50 });
  }

  /** GET of the REST API, repeated while it says 503. @throws for any other answer but 200. */
  async rest(path: string, key: string): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await fetch(`${this.#api.origin}/api/v1${path}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const body = await answer.text();
      if (answer.status === 200) return JSON.parse(body);
      if (answer.status !== 503 || attempt >= REST_ATTEMPTS_MAX)
        throw new Error(`${path}: ${answer.status} ${body}`);
    }
  }

  /** A write over the REST API; answers `data`. @throws for any refusal. */
  async write(method: string, path: string, key: string, body: unknown): Promise<unknown> {
    const answer = await fetch(`${this.#api.origin}/api/v1${path}`, {
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      method,
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return Written.parse(JSON.parse(text)).data;
  }

  /** What `/pb` answers to a report with the workspace's token. */
  async report(query: string, tenant: Tenant): Promise<z.infer<typeof Outcome>> {
    const answer = await this.ask(`/pb?token=${tenant.postbackToken}&${query}`);
    if (answer.status !== 200) throw new Error(`/pb: ${lineOf(answer)}`);
    return Outcome.parse(JSON.parse(answer.body));
  }

  /** Rows of ClickHouse that a condition selects, also those that no key can see. */
  async stored(condition: string, count = 1): Promise<Click[]> {
    const query = `select lower(hex(click_id)) as id, * except (click_id) from click where ${condition}`;
    const select = async (): Promise<Click[] | undefined> => {
      const rows = await this.store.facts<Click>(query);
      return rows.length >= count ? rows : undefined;
    };
    return await until(`${count} rows with ${condition}`, select, {
      timeoutMs: VISIBLE_MS,
      pollMs: 50,
    });
  }
}

type ApiPart = { readonly origin: string; readonly close: () => Promise<void> };

/** The API in this process, which costs a third of the processor time of a process of its own. */
async function openApi(store: TrackingWorld, allowLoopback: boolean): Promise<ApiPart> {
  const outgoing = new OutgoingClient({ allowLoopback });
  const app = await startApi({
    db: store.pool,
    clickhouse: store.clickhouse,
    nats: () => store.nats,
    outgoing,
    log: testLog(),
    metrics: new Metrics(),
    secretKeys: secretKeys(),
    trustedProxies: [PROXY],
    rateLimitPerMinute: REQUESTS_PER_MINUTE,
    apiUrl: "https://api.example",
    trackingUrl: "http://track.example:8080",
    allowLoopback,
  });
  const origin = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    origin,
    close: async () => {
      await app.close();
      await outgoing.close();
    },
  };
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, i): [string, string][] =>
    i % 2 === 0 ? [[name, raw[i + 1] ?? ""]] : [],
  );
}
