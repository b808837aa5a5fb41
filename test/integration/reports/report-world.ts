import { z } from "zod";
import { readInput } from "../../../api/http/request-input.ts";
import type { Operation } from "../../../api/operation/operation.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { ClickIdMint } from "../../../schemas/ids/click-id.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { type CallerRole, operationContext } from "../../services/operation-context.ts";
import { insertRow, type OpenStores, openStores, Stores } from "../../services/stores.ts";
import type {
  Ledger,
  LedgerClick,
  LedgerConversion,
  LedgerCost,
  LedgerImpression,
  LedgerRate,
} from "./ledger.ts";

export type Caller = CallerRole;

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

export type LedgerRow = LedgerClick | LedgerImpression | LedgerConversion | LedgerCost;

/** The `data` of a list. */
export function rowsOf(data: unknown): Row[] {
  return z.array(Row).parse(data);
}

/**
 * Stores with a workspace in them, and a way to call operations as REST does. Partner keys belong to the first partner, advertiser
 * keys to the first advertiser.
 */
export class ReportWorld extends Stores {
  readonly seed: Seed;
  readonly mint: ClickIdMint;
  /** What operations take for now; the clock's time when undefined. */
  nowMs: number | undefined;

  protected constructor(stores: OpenStores, parts: { seed: Seed; secret: string }) {
    super(stores);
    this.seed = parts.seed;
    this.mint = new ClickIdMint({ producer: 9, secret: parts.secret, clock: systemClock });
  }

  static async open(): Promise<ReportWorld> {
    const stores = await openStores({ label: "reports" });
    return new ReportWorld(stores, await ReportWorld.seeded(stores));
  }

  protected static async seeded(stores: OpenStores): Promise<{ seed: Seed; secret: string }> {
    const { rows } = await stores.pool.query<{ secret: string }>({
      text: "select secret from installation",
    });
    return { secret: rows[0]?.secret ?? "", seed: await seed(stores.pool) };
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

  context(caller: Caller): ReturnType<typeof operationContext> {
    const { workspaceId, affiliateIds, advertiserIds } = this.seed;
    const [affiliateId] = affiliateIds;
    const [advertiserId] = advertiserIds;
    const key = { role: caller, workspaceId, affiliateId, advertiserId, timezone: "Europe/Berlin" };
    return operationContext(this, key, { nowMs: this.nowMs });
  }

  async store(ledger: Partial<Ledger>): Promise<void> {
    await this.insertRows("click", ledger.clicks ?? []);
    await this.insertRows("impression", ledger.impressions ?? []);
    await this.insertRows("conversion_fact", ledger.conversions ?? []);
    await this.insertRows("ad_cost_fact", ledger.costs ?? []);
    await this.#insertRates(ledger.rates ?? []);
  }

  async #insertRates(rates: readonly LedgerRate[]): Promise<void> {
    await this.pool.query({
      text: "insert into fx_rate (date, currency, rate) select date, currency, rate from jsonb_to_recordset($1) as r(date date, currency text, rate numeric)",
      values: [JSON.stringify(rates)],
    });
  }

  /** Rows as the processors write them: columns that are left out have their defaults. */
  async insertRows(
    table: "click" | "impression" | "conversion_fact" | "ad_cost_fact",
    rows: readonly LedgerRow[],
  ): Promise<void> {
    await this.insertInto(this.clickhouse, table, rows);
  }

  protected async insertInto(
    clickhouse: Clickhouse,
    table: string,
    rows: readonly LedgerRow[],
  ): Promise<void> {
    const first = rows[0];
    if (first === undefined) return;
    const types = await this.facts<{ name: string; type: string }>(
      "select name, type from system.columns where database = currentDatabase() and table = {table:String}",
      { table },
    );
    const typeOf = new Map(types.map(({ name, type }) => [name, type]));
    const names = Object.keys(first);
    const isClickId = (name: string): boolean => table === "click" && name === "click_id";
    const structure = names.map(
      (name) => `${name} ${isClickId(name) ? "String" : (typeOf.get(name) ?? "String")}`,
    );
    const selected = names.map((name) => (isClickId(name) ? "unhex(click_id)" : name));
    const lines = rows.map((row) => JSON.stringify(row)).join("\n");
    await clickhouse.command({
      query: `insert into ${table} (${names.join(", ")}) select ${selected.join(", ")}
        from input('${structure.join(", ").replaceAll("'", "\\'")}') format JSONEachRow\n${lines}`,
      clickhouse_settings: { input_format_parallel_parsing: 0, max_query_size: "100000000" },
    });
  }
}

async function seed(db: Pool): Promise<Seed> {
  const workspaceId = await insertRow(db, "workspace", {
    slug: "w",
    name: "w",
    postback_token: "",
  });
  const insert = async (table: string, columns: Record<string, unknown>): Promise<number> =>
    await insertRow(db, table, { workspace_id: workspaceId, ...columns });
  const manager = (n: number): Promise<number> => insert("app_user", { name: `Manager ${n}` });
  const managerIds = [await manager(1), await manager(2)] as const;
  const advertiser = (n: number): Promise<number> =>
    insert("advertiser", { name: `Advertiser ${n}`, currency: "USD", postback_token: "" });
  const advertiserIds = [await advertiser(1), await advertiser(2)] as const;
  const affiliate = (n: number): Promise<number> =>
    insert("affiliate", {
      code: `PARTN${n}`,
      name: `Affiliate ${n}`,
      currency: "USD",
      manager_id: managerIds[n - 1] ?? null,
    });
  const affiliateIds = [await affiliate(1), await affiliate(2), await affiliate(3)] as const;
  const offer = async (n: number): Promise<number> => {
    const id = await insert("offer", {
      advertiser_id: n % 2 === 1 ? advertiserIds[0] : advertiserIds[1],
      code: `OFFER${n}`,
      name: `Offer ${n}`,
      destination_url: "https://shop.example/",
      currency: n === 4 ? "EUR" : "USD",
    });
    await insertRow(db, "offer_event", { offer_id: id, code: "sale", name: "A sale" });
    return id;
  };
  const offerIds = [await offer(1), await offer(2), await offer(3), await offer(4)] as const;
  const smartLinkId = await insert("smart_link", { code: "SMART", name: "Smart" });
  return { workspaceId, advertiserIds, offerIds, affiliateIds, managerIds, smartLinkId };
}
