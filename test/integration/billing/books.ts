import { randomUUID } from "node:crypto";
import { startLedger } from "../../../processors/ledger/start.ts";
import { auditBilling, type Violation } from "../../../schemas/billing/audit.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { type OpenStores, openStores, Stores, testLog } from "../../services/stores.ts";
import { until } from "../../system/until.ts";

/** What a test says about a conversion; the rest is the same for all. */
export type ConversionFields = {
  readonly status?: "approved" | "pending" | "rejected";
  readonly payout?: string;
  readonly revenue?: string;
  readonly affiliate_id?: number | null;
  readonly currency?: string;
};

const POSTED_MS_MAX = 60_000;
const BILLED_FROM = "2020-01-01";
const PLAN = {
  on_txid: "duplicate",
  on_click: "duplicate",
  on_none: "insert",
  latest_of_click: false,
  may_be_multiple: false,
  caps: [],
  timezone: "UTC",
  actor: "api",
};

/** Stores with a workspace whose conversions are recorded and changed by the functions of the service, and lanes that post them. */
export class Books extends Stores {
  readonly workspaceId: number;
  readonly advertiserId: number;
  /** Two partners. */
  readonly partners: readonly [number, number];
  readonly offerId: number;
  readonly #lanes: { close(): Promise<void> }[] = [];

  private constructor(stores: OpenStores, ids: Seed) {
    super(stores);
    this.workspaceId = ids.workspaceId;
    this.advertiserId = ids.advertiserId;
    this.partners = ids.partners;
    this.offerId = ids.offerId;
    this.atEnd(() => this.closeLanes());
  }

  static async open(timezone = "UTC"): Promise<Books> {
    const stores = await openStores({ label: "books" });
    return new Books(stores, await insertSeed(new Stores(stores), timezone));
  }

  /** The books of a new workspace in these stores, whose owner closes them. */
  static async within(stores: Stores): Promise<Books> {
    const { database, pool, clickhouse, nats } = stores;
    const opened = { database, pool, clickhouse, nats, natsUrl: stores.env.NATS_URL };
    return new Books(opened, await insertSeed(stores, "UTC"));
  }

  /** As `PATCH /billing-settings` with `enabled`. */
  async enable(startsOn = BILLED_FROM): Promise<void> {
    await this.rows(
      `insert into billing_settings (workspace_id, enabled, starts_on, enabled_xid)
       values ($1, true, $2, pg_current_xact_id())
       on conflict (workspace_id) do update set enabled = true, enabled_xid = pg_current_xact_id()`,
      [this.workspaceId, startsOn],
    );
  }

  async disable(): Promise<void> {
    await this.rows("update billing_settings set enabled = false where workspace_id = $1", [
      this.workspaceId,
    ]);
  }

  /** Starts a lane, on connections of its own if they are given. */
  startLane(pool: Pool = this.pool): { close(): Promise<void>; metrics: Metrics } {
    const metrics = new Metrics();
    const { signal } = new AbortController();
    const lane = startLedger({ pool, log: testLog(), metrics, signal });
    this.#lanes.push(lane);
    return { close: () => lane.close(), metrics };
  }

  async closeLanes(): Promise<void> {
    await Promise.all(this.#lanes.splice(0).map((lane) => lane.close()));
  }

  /** Returns the id of the new conversion. */
  async convert(fields: ConversionFields = {}): Promise<string> {
    const id = randomUUID();
    const input = {
      id,
      workspace_id: this.workspaceId,
      offer_id: this.offerId,
      affiliate_id: this.partners[0],
      advertiser_id: this.advertiserId,
      event_id: 1,
      event_code: "default",
      is_private: false,
      status: "approved",
      status_reason: "",
      is_duplicate: false,
      cap_alert: false,
      revenue: "15",
      payout: "10",
      sale_amount: "0",
      currency: "EUR",
      payout_type: "cpa",
      payout_rate: "10",
      payout_given: false,
      revenue_type: "rpa",
      revenue_rate: "15",
      revenue_given: false,
      method: "api",
      conv_ts: new Date().toISOString(),
      click: {},
      params: {},
      notes: "",
      holds_click: false,
      holds_txid: false,
      holds_event_txid: false,
      ...fields,
    };
    await this.rows(
      "select record_conversion($1, jsonb_populate_record(null::conversion_plan, $2)) as answer",
      [JSON.stringify(input), JSON.stringify(PLAN)],
    );
    return id;
  }

  /** Changes a conversion as the processor of conversions does. */
  async change(id: string, fields: ConversionFields): Promise<void> {
    const [row] = await this.rows<{ changed: boolean }>(
      "select change_conversion(c.id, c.version, $2, 'api', 1) as changed from conversion c where c.id = $1",
      [id, JSON.stringify(fields)],
    );
    if (row?.changed !== true) throw new Error(`conversion ${id} was not changed`);
  }

  /** `extraMs`: besides the time that a few changes take. */
  async untilPosted(extraMs = 0): Promise<void> {
    await until("everything is posted", async () => (await this.#waiting()) === 0, {
      pollMs: 20,
      timeoutMs: POSTED_MS_MAX + extraMs,
    });
  }

  async #waiting(): Promise<number> {
    const [row] = await this.rows<{ waiting: number }>(
      `select (select count(*)::integer from ledger_outbox where workspace_id = $1)
         + (select count(*)::integer from billing_settings
            where workspace_id = $1 and enabled
              and (backfilled_to is distinct from 9223372036854775807 or backfill_xid <= enabled_xid)) as waiting`,
      [this.workspaceId],
    );
    return row?.waiting ?? 0;
  }

  /** `kind owner currency` → balance, accounts at 0 left out. */
  async balances(): Promise<Record<string, string>> {
    const rows = await this.rows<{ name: string; balance: string }>(
      `select concat_ws(' ', a.kind, nullif(a.owner_id, 0), a.currency) as name, b.balance
       from ledger_account a join ledger_balance b on b.account_id = a.id
       where a.workspace_id = $1 and b.balance <> 0 order by 1`,
      [this.workspaceId],
    );
    return Object.fromEntries(rows.map(({ name, balance }) => [name, balance]));
  }

  audit(): Promise<readonly Violation[]> {
    return auditBilling(this.pool, this.workspaceId);
  }
}

type Seed = Pick<Books, "workspaceId" | "advertiserId" | "partners" | "offerId">;

async function insertSeed(stores: Stores, timezone: string): Promise<Seed> {
  const workspaceId = await stores.insert("workspace", {
    slug: `books-${randomUUID().slice(0, 8)}`,
    name: "Books",
    postback_token: randomUUID(),
    timezone,
  });
  const owned = { workspace_id: workspaceId, currency: "EUR" };
  const advertiserId = await stores.insert("advertiser", {
    ...owned,
    name: "Advertiser",
    postback_token: randomUUID(),
  });
  const one = await stores.insert("affiliate", { ...owned, name: "One", code: "PONE" });
  const two = await stores.insert("affiliate", { ...owned, name: "Two", code: "PTWO" });
  const offerId = await stores.insert("offer", {
    ...owned,
    advertiser_id: advertiserId,
    code: `O${randomUUID().slice(0, 8).toUpperCase()}`,
    name: "Offer",
    destination_url: "https://shop.example/",
    payout_type: "cpa",
    payout: "10",
    revenue_type: "rpa",
    revenue: "15",
  });
  return { workspaceId, advertiserId, partners: [one, two], offerId };
}
