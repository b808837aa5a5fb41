import { z } from "zod";
import { until } from "../../system/until.ts";
import type { Answer, ApiWorld, Tenant } from "../api/api-world.ts";

const Update = z.object({
  data: z.looseObject({
    id: z.int(),
    status: z.string(),
    message: z.string(),
    columns: z.record(z.string(), z.string()),
    counts: z.record(z.string(), z.int()),
    rows: z.int(),
    sums: z.array(z.looseObject({})).optional(),
  }),
});
export type SeenUpdate = z.infer<typeof Update>["data"];

const Rows = z.object({
  data: z.array(
    z.looseObject({
      row: z.int(),
      outcome: z.string().nullable(),
      conversion_id: z.string().nullable(),
      faults: z.record(z.string(), z.string()),
    }),
  ),
  next_cursor: z.string().nullable(),
});

type Asked = Readonly<Record<string, string>>;
const WITHIN_MS = 120_000;

/** Calls of one workspace about updates by file. Every answer is held to the OpenAPI document. */
export class UpdateCalls {
  readonly #world: ApiWorld;
  readonly #of: Tenant;
  readonly origin: string;

  constructor(world: ApiWorld, of: Tenant, origin = world.origin) {
    this.#world = world;
    this.#of = of;
    this.origin = origin;
  }

  async call(
    method: "GET" | "POST",
    path: string,
    { key = this.#of.keys.admin, raw }: { readonly key?: string; readonly raw?: string } = {},
  ): Promise<Answer> {
    const sent = raw === undefined ? {} : { raw, headers: { "content-type": "text/csv" } };
    return await this.#world.callAt(this.origin, method, path, { key, ...sent });
  }

  async send(content: string, query: Asked = {}): Promise<Answer> {
    const path = `/conversion-updates?${new URLSearchParams(query).toString()}`;
    return await this.call("POST", path, { raw: content });
  }

  async get(id: number): Promise<SeenUpdate> {
    return Update.parse((await this.call("GET", `/conversion-updates/${id}`)).body).data;
  }

  /** The update once it waits for somebody or has ended. */
  async settled(id: number, pollMs = 20): Promise<SeenUpdate> {
    return await until(
      `update ${id} has settled`,
      async () => {
        const found = await this.get(id);
        return ["checking", "applying", "undoing"].includes(found.status) ? undefined : found;
      },
      { timeoutMs: WITHIN_MS, pollMs },
    );
  }

  /** Sends a file and waits for the end of its check. @throws if it is refused */
  async checked(content: string, query: Asked = {}): Promise<SeenUpdate> {
    const answer = await this.send(content, query);
    if (answer.status !== 202) throw new Error(`not taken: ${answer.status} ${answer.text}`);
    return await this.settled(Update.parse(answer.body).data.id);
  }

  async phase(id: number, verb: "apply" | "undo" | "stop"): Promise<SeenUpdate> {
    const answer = await this.call("POST", `/conversion-updates/${id}/${verb}`);
    if (answer.status !== 200) throw new Error(`not ${verb}: ${answer.status} ${answer.text}`);
    return await this.settled(id);
  }

  /** Sends a file, and applies it. */
  async applied(content: string, query: Asked = {}): Promise<SeenUpdate> {
    return await this.phase((await this.checked(content, query)).id, "apply");
  }

  async rows(id: number, outcome?: string): Promise<z.infer<typeof Rows>["data"]> {
    const query = outcome === undefined ? "" : `&outcome=${outcome}`;
    return Rows.parse(
      (await this.call("GET", `/conversion-updates/${id}/rows?limit=200${query}`)).body,
    ).data;
  }

  /** `count` conversions of an offer: 5.0000 earned, 15.0000 charged at a sale of 100.0000, orders `<prefix>-1` and so on. */
  async insertConversions(
    offerId: number,
    prefix: string,
    { count = 1, ...fields }: { readonly count?: number } & Readonly<Record<string, unknown>> = {},
  ): Promise<string[]> {
    const row = {
      workspace_id: this.#of.workspaceId,
      offer_id: offerId,
      affiliate_id: this.#of.affiliateId,
      advertiser_id: this.#of.advertiserId,
      event_id: 1,
      event_code: "default",
      is_private: false,
      status: "pending",
      status_reason: "",
      is_duplicate: false,
      cap_alert: false,
      revenue: "15",
      payout: "5",
      sale_amount: "100",
      currency: "USD",
      payout_type: "cps",
      payout_rate: "5",
      payout_given: false,
      revenue_type: "rps",
      revenue_rate: "15",
      revenue_given: false,
      method: "s2s",
      conv_ts: "2026-01-15T12:00:00Z",
      click: {},
      params: {},
      notes: "",
      version: 1,
      holds_click: false,
      holds_txid: false,
      holds_event_txid: false,
      created_at: "2026-01-15T12:00:00Z",
      updated_at: "2026-01-15T12:00:00Z",
      ...fields,
    };
    const { rows } = await this.#world.pool.query<{ id: string }>({
      text: `insert into conversion
             select r.* from generate_series(1, $3::integer) n, lateral jsonb_populate_record(null::conversion,
               $1::jsonb || jsonb_build_object('id', gen_random_uuid(), 'adv_txid', $2::text || '-' || n)) r returning id`,
      values: [JSON.stringify(row), prefix, count],
    });
    return rows.map(({ id }) => id);
  }

  /** Status, amounts and reason of conversions, in the order of their orders. */
  async states(prefix: string): Promise<string[]> {
    const { rows } = await this.#world.pool.query<{ state: string }>({
      text: `select concat_ws(' ', adv_txid, status, nullif(status_reason, ''), sale_amount, payout, revenue) as state
             from conversion where workspace_id = $1 and adv_txid like $2 order by adv_txid, event_code`,
      values: [this.#of.workspaceId, `${prefix}-%`],
    });
    return rows.map(({ state }) => state);
  }
}
