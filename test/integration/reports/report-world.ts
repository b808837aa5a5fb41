import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { z } from "zod";
import { permissionsOf } from "../../../api/access/permissions.ts";
import type { Principal } from "../../../api/access/principal.ts";
import type { Operation, OperationContext } from "../../../api/operation.ts";
import { Cursors } from "../../../api/rest/cursor.ts";
import { readInput } from "../../../api/rest/request-input.ts";
import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../../schemas/clickhouse/migrate.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { ClickIdMint } from "../../../schemas/ids/click-id.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import { OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../../schemas/postgres/migrate.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { createPostgresDatabase, dropPostgresDatabase } from "../../services/fresh-database.ts";
import type {
  Ledger,
  LedgerClick,
  LedgerConversion,
  LedgerCost,
  LedgerImpression,
  LedgerRate,
} from "./ledger.ts";

export type Caller = "admin" | "analyst" | "partner" | "advertiser";

/** Ids of what the world is seeded with. Everything is in the first workspace besides `stranger`. */
export type Seed = {
  readonly workspaceId: number;
  readonly advertiserIds: readonly [number, number];
  readonly offerIds: readonly [number, number, number, number];
  readonly affiliateIds: readonly [number, number, number];
  readonly managerIds: readonly [number, number];
  readonly smartLinkId: number;
};

const Row = z.record(z.string(), z.unknown());
export type Row = z.infer<typeof Row>;

/** The `data` of a list. */
export function rowsOf(data: unknown): Row[] {
  return z.array(Row).parse(data);
}

/**
 * Databases of their own on the servers of this run, with a workspace in them, and a way to call operations as REST does.
 * Partner keys belong to the first partner, advertiser keys to the first advertiser.
 */
export class ReportWorld {
  readonly db: Pool;
  readonly clickhouse: Clickhouse;
  readonly nats: Nats;
  readonly seed: Seed;
  readonly mint: ClickIdMint;
  readonly #cursors: Cursors;
  readonly #outgoing = new OutgoingClient({ allowLoopback: false });
  readonly #name: string;
  /** What operations take for now; the clock's time when undefined. */
  nowMs: number | undefined;

  private constructor(parts: {
    db: Pool;
    clickhouse: Clickhouse;
    nats: Nats;
    seed: Seed;
    secret: string;
    name: string;
  }) {
    this.db = parts.db;
    this.clickhouse = parts.clickhouse;
    this.nats = parts.nats;
    this.seed = parts.seed;
    this.mint = new ClickIdMint({ producer: 9, secret: parts.secret, clock: systemClock });
    this.#cursors = new Cursors(parts.secret);
    this.#name = parts.name;
  }

  static async open(): Promise<ReportWorld> {
    const name = `reports_test_${randomBytes(5).toString("hex")}`;
    await createPostgresDatabase(inject("postgresUrl"), name);
    const db = openPool({ url: databaseUrl(inject("postgresUrl"), name), applicationName: "test" });
    await migratePostgres(db);
    const clickhouseUrl = databaseUrl(inject("clickhouseUrl"), name);
    await migrateClickhouse(clickhouseUrl);
    const clickhouse = openClickhouse({ url: clickhouseUrl, applicationName: "test" });
    const nats = await connectNats({ url: inject("natsUrl"), name: "test", prefix: name });
    const { rows } = await db.query<{ secret: string }>({
      text: "select secret from installation",
    });
    const secret = rows[0]?.secret ?? "";
    return new ReportWorld({ db, clickhouse, nats, seed: await seed(db), secret, name });
  }

  /** The body of an answer, as JSON would carry it. @throws {ApiError} for a refusal. */
  async get(
    operation: Operation,
    query: Readonly<Record<string, string>> = {},
    options: { caller?: Caller; path?: Record<string, string> } = {},
  ): Promise<Record<string, unknown>> {
    const result = await this.run(operation, query, options);
    if (!("body" in result)) throw new Error("the answer is a stream");
    return Row.parse(JSON.parse(JSON.stringify(result.body)));
  }

  async text(
    operation: Operation,
    query: Readonly<Record<string, string>>,
    caller: Caller = "admin",
  ): Promise<string> {
    const result = await this.run(operation, query, { caller });
    if (!("stream" in result)) throw new Error("the answer is no stream");
    let text = "";
    for await (const chunk of result.stream) text += String(chunk);
    return text;
  }

  async run(
    operation: Operation,
    query: Readonly<Record<string, string>>,
    { caller = "admin", path = {} }: { caller?: Caller; path?: Record<string, string> } = {},
  ): ReturnType<Operation["run"]> {
    const context = this.context(caller);
    const input = await readInput(operation, context, { path, query, body: undefined });
    return await operation.run(context, input);
  }

  context(caller: Caller): OperationContext {
    const principal = this.#principal(caller);
    return {
      principal,
      workspace: principal.workspace,
      db: this.db,
      clickhouse: this.clickhouse,
      nats: this.nats,
      outgoing: this.#outgoing,
      cursors: this.#cursors,
      log: openLog({ process: "test", level: "silent" }),
      requestId: "test",
      nowMs: this.nowMs ?? Date.now(),
      clientIp: "127.0.0.1",
      rate: { limit: 600, remaining: 600, resetSec: 60 },
      settings: {
        apiUrl: "http://127.0.0.1",
        trackingUrl: "http://127.0.0.1",
        allowLoopback: false,
        clickRetentionDays: 0,
      },
    };
  }

  async insert(ledger: Partial<Ledger>): Promise<void> {
    await this.insertRows("click", ledger.clicks ?? []);
    await this.insertRows("impression", ledger.impressions ?? []);
    await this.insertRows("conversion_fact", ledger.conversions ?? []);
    await this.insertRows("ad_cost_fact", ledger.costs ?? []);
    await this.#insertRates(ledger.rates ?? []);
  }

  async #insertRates(rates: readonly LedgerRate[]): Promise<void> {
    await this.db.query({
      text: "insert into fx_rate (date, currency, rate) select date, currency, rate from jsonb_to_recordset($1) as r(date date, currency text, rate numeric)",
      values: [JSON.stringify(rates)],
    });
  }

  /** Rows as the processors write them: columns that are left out have their defaults. */
  async insertRows(
    table: "click" | "impression" | "conversion_fact" | "ad_cost_fact",
    rows: readonly (LedgerClick | LedgerImpression | LedgerConversion | LedgerCost)[],
  ): Promise<void> {
    const first = rows[0];
    if (first === undefined) return;
    const types = await this.clickhouse.query({
      query:
        "select name, type from system.columns where database = currentDatabase() and table = {table:String}",
      query_params: { table },
      format: "JSONEachRow",
    });
    const typeOf = new Map(
      (await types.json<{ name: string; type: string }>()).map(({ name, type }) => [name, type]),
    );
    const names = Object.keys(first);
    const isClickId = (name: string): boolean => table === "click" && name === "click_id";
    const structure = names.map(
      (name) => `${name} ${isClickId(name) ? "String" : (typeOf.get(name) ?? "String")}`,
    );
    const selected = names.map((name) => (isClickId(name) ? "unhex(click_id)" : name));
    const lines = rows.map((row) => JSON.stringify(row)).join("\n");
    await this.clickhouse.command({
      query: `insert into ${table} (${names.join(", ")}) select ${selected.join(", ")}
        from input('${structure.join(", ").replaceAll("'", "\\'")}') format JSONEachRow\n${lines}`,
      clickhouse_settings: { input_format_parallel_parsing: 0, max_query_size: "100000000" },
    });
  }

  async close(): Promise<void> {
    await this.#outgoing.close();
    await this.nats.connection.close();
    await this.clickhouse.command({ query: `drop database ${this.#name}` });
    await this.clickhouse.close();
    await this.db.end();
    await dropPostgresDatabase(inject("postgresUrl"), this.#name);
  }

  #principal(caller: Caller): Principal {
    const { workspaceId, affiliateIds, advertiserIds } = this.seed;
    const key = {
      keyId: 1,
      keyName: "",
      permissions: permissionsOf(caller, null),
      workspace: {
        id: workspaceId,
        slug: "w",
        name: "W",
        brand_name: "",
        timezone: "Europe/Berlin",
        currency: "USD",
      },
    };
    const account = { name: "", status: "active", currency: "USD" };
    switch (caller) {
      case "admin":
      case "analyst":
        return { ...key, role: caller, affiliate: null, advertiser: null };
      case "partner": {
        const affiliate = { id: affiliateIds[0], code: "PARTN1", ...account };
        return { ...key, role: caller, affiliate, advertiser: null };
      }
      case "advertiser": {
        const advertiser = { id: advertiserIds[0], ...account };
        return { ...key, role: caller, affiliate: null, advertiser };
      }
    }
  }
}

async function seed(db: Pool): Promise<Seed> {
  const one = async (text: string, values: readonly unknown[]): Promise<number> => {
    const { rows } = await db.query<{ id: number }>({ text: `${text} returning id`, values });
    return rows[0]?.id ?? 0;
  };
  const workspaceId = await one(
    "insert into workspace (slug, name, postback_token) values ($1, $1, '')",
    ["w"],
  );
  const manager = (n: number): Promise<number> =>
    one("insert into app_user (workspace_id, name) values ($1, $2)", [workspaceId, `Manager ${n}`]);
  const managerIds = [await manager(1), await manager(2)] as const;
  const advertiser = (n: number): Promise<number> =>
    one(
      "insert into advertiser (workspace_id, name, currency, postback_token) values ($1, $2, 'USD', '')",
      [workspaceId, `Advertiser ${n}`],
    );
  const advertiserIds = [await advertiser(1), await advertiser(2)] as const;
  const affiliate = (n: number): Promise<number> =>
    one(
      "insert into affiliate (workspace_id, code, name, currency, manager_id) values ($1, $2, $3, 'USD', $4)",
      [workspaceId, `PARTN${n}`, `Affiliate ${n}`, managerIds[n - 1] ?? null],
    );
  const affiliateIds = [await affiliate(1), await affiliate(2), await affiliate(3)] as const;
  const offer = async (n: number): Promise<number> => {
    const owner = n % 2 === 1 ? advertiserIds[0] : advertiserIds[1];
    const id = await one(
      `insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency)
       values ($1, $2, $3, $4, 'https://shop.example/', $5)`,
      [workspaceId, owner, `OFFER${n}`, `Offer ${n}`, n === 4 ? "EUR" : "USD"],
    );
    await one("insert into offer_event (offer_id, code, name) values ($1, 'sale', 'A sale')", [id]);
    return id;
  };
  const offerIds = [await offer(1), await offer(2), await offer(3), await offer(4)] as const;
  const smartLinkId = await one(
    "insert into smart_link (workspace_id, code, name) values ($1, 'SMART', 'Smart')",
    [workspaceId],
  );
  return { workspaceId, advertiserIds, offerIds, affiliateIds, managerIds, smartLinkId };
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.toString();
}
