import { z } from "zod";
import type { LedgerClick, LedgerConversion } from "../../../integration/reports/ledger.ts";
import type { HttpAnswer } from "../../../system/service.ts";
import { until } from "../../../system/until.ts";
import { decimal, share, units } from "../recounted-day/money.ts";
import type { Market, Offer } from "./market.ts";
import { type Dice, pick } from "./traffic.ts";

const STATUSES = ["approved", "pending", "rejected"] as const;
type Status = (typeof STATUSES)[number];
type OfferEvent = Offer["events"][number];

/** Longer than a killed processor takes to come back. */
const AWAY_MS = 60_000;
const RETRY_MS = 100;
const PAGES_MAX = 200;

/** One order of a shop, and what its answers contained. Times are UTC ms of this machine. */
type Order = {
  readonly txid: string;
  readonly click: LedgerClick;
  readonly offer: Offer;
  readonly event: OfferEvent;
  readonly sale: string;
  status: Status;
  /** The status in the report that created it, and in the last report that changed it. */
  readonly firstReported: Status | undefined;
  lastReported: Status | undefined;
  id: string;
  readonly sentAtMs: number;
  answeredAtMs: number;
  /** Repeats that were answered. Each has a row of its own. */
  repeats: number;
  /** Attempts without an answer. Each may have left the row of a repeat. */
  lost: number;
};

const Postback = z.object({
  ok: z.literal(true),
  conversion_id: z.string(),
  status: z.enum(STATUSES),
  duplicate: z.boolean().optional(),
  updated: z.boolean().optional(),
});
const Page = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      adv_txid: z.string().nullable(),
      is_duplicate: z.boolean(),
      conv_ts: z.iso.datetime(),
    }),
  ),
  next_cursor: z.string().nullable(),
});
type Stored = z.infer<typeof Page>["data"][number];

/** The orders of a market: reports, repeats and changes them, and keeps the ledger of the results. */
export class Orders {
  /** Answers that differ from the expected state of their order. */
  readonly wrong: string[] = [];
  readonly #market: Market;
  readonly #byTxid = new Map<string, Order>();

  constructor(market: Market) {
    this.#market = market;
  }

  get size(): number {
    return this.#byTxid.size;
  }

  get lost(): number {
    return [...this.#byTxid.values()].reduce((sum, { lost }) => sum + lost, 0);
  }

  /** The purchases of a visitor who reached the shop: one or two events of the offer, some of them reported twice. */
  async shop(click: LedgerClick, random: Dice): Promise<void> {
    const offer = this.#market.offers.find(({ id }) => id === click.offer_id);
    if (offer === undefined) throw new Error(`no offer ${click.offer_id}`);
    const events = [pick(random, offer.events), pick(random, offer.events)];
    const [first, second] = events;
    const isBoth = second?.allowMultiple === true || (first !== second && random() < 0.4);
    for (const event of isBoth ? events : events.slice(0, 1)) {
      const sale = random() < 0.7 ? `${Math.floor(random() * 50_000) / 100}` : "";
      const status = random() < 0.5 ? pick(random, STATUSES) : undefined;
      const order = await this.report(click, { event, sale, status });
      if (random() < 0.1) await this.#repeat(order);
    }
  }

  async report(
    click: LedgerClick,
    of: {
      readonly event: OfferEvent;
      readonly sale?: string;
      readonly status?: Status | undefined;
      readonly txid?: string;
    },
  ): Promise<Order> {
    const { event, sale = "", status, txid = `t-${this.#byTxid.size}` } = of;
    const offer = this.#market.offers.find(({ id }) => id === click.offer_id);
    if (offer === undefined) throw new Error(`no offer ${click.offer_id}`);
    const wanted = status ?? offer.defaultStatus ?? "approved";
    const order: Order = {
      txid,
      click,
      offer,
      event,
      sale,
      status: wanted,
      id: "",
      firstReported: status,
      lastReported: undefined,
      sentAtMs: Date.now(),
      answeredAtMs: 0,
      repeats: 0,
      lost: 0,
    };
    this.#byTxid.set(txid, order);
    const answer = await this.#send(order, status === undefined ? {} : { status });
    order.answeredAtMs = Date.now();
    order.id = answer.conversion_id;
    const isNew = answer.duplicate !== true && answer.updated !== true;
    // If the first answer was lost, the retry is a repeat of the order's own report.
    if (order.lost === 0 && (!isNew || answer.status !== wanted))
      this.wrong.push(`order ${txid}: ${JSON.stringify(answer)} instead of ${wanted}`);
    return order;
  }

  async #repeat(order: Order): Promise<void> {
    const answer = await this.#send(order, {});
    order.repeats += 1;
    if (answer.duplicate !== true || answer.status !== "rejected")
      this.wrong.push(`repeat of order ${order.txid}: ${JSON.stringify(answer)}`);
  }

  /** Changes the status of orders `count` times: in turn by `/pb`, by staff for one order, and by staff in bulk. */
  async change(count: number, random: Dice): Promise<void> {
    // After a lost answer, the answered id may belong to the duplicate row instead of the order.
    const known = [...this.#byTxid.values()].filter(({ lost }) => lost === 0);
    for (let done = 0; done < count && known.length > 0; done += 1) {
      const status = pick(random, STATUSES);
      const some = [...new Set([pick(random, known), pick(random, known), pick(random, known)])];
      const chosen = done % 3 === 2 ? some : some.slice(0, 1);
      const [order] = chosen;
      if (order === undefined) return;
      if (done % 3 === 0) {
        await this.#send(order, { status });
        // A report that equals the one that created the order, or last changed it, is a repeat (G198).
        if ([order.firstReported, order.lastReported].includes(status)) continue;
        if (order.status !== status) order.lastReported = status;
      }
      if (done % 3 === 1) await this.#patch(`/conversions/${order.id}`, { status });
      if (done % 3 === 2) {
        await this.#patch("/conversions", { status, ids: chosen.map(({ id }) => id) });
      }
      for (const one of chosen) one.status = status;
    }
  }

  async #patch(path: string, change: { readonly status: Status; readonly ids?: string[] }) {
    const body = { ...change, reason: "checked" };
    await until(
      `PATCH ${path}`,
      async () => (await this.#market.client.send("PATCH", path, body)) !== undefined,
      { timeoutMs: AWAY_MS, pollMs: RETRY_MS },
    );
  }

  /** Sends a report of the order until it is answered. */
  async #send(
    order: Order,
    more: Readonly<Record<string, string>>,
  ): Promise<z.infer<typeof Postback>> {
    const { client, host, token } = this.#market;
    const query = new URLSearchParams({
      token,
      click_id: order.click.click_id,
      event: order.event.code,
      txid: order.txid,
      ...(order.sale === "" ? {} : { amount: order.sale }),
      ...more,
    });
    const url = `${client.demo.tracking_url}/pb?${query}`;
    const answer = await until<HttpAnswer>(
      `an answer to ${query}`,
      async () => {
        const attempt = await client.attempt(url, { host }).catch(() => undefined);
        if (attempt !== undefined && attempt.status !== 503) return attempt;
        // The service may answer 503 before or after its commit.
        order.lost += 1;
        return undefined;
      },
      { timeoutMs: AWAY_MS, pollMs: RETRY_MS },
    );
    const parsed = Postback.safeParse(JSON.parse(answer.body));
    if (!parsed.success) throw new Error(`order ${order.txid}: ${answer.status} ${answer.body}`);
    return parsed.data;
  }

  /**
   * Every conversion as the answers describe it. Two facts are in no answer, so they are read from the list of conversions and
   * checked for plausibility: the time lies between request and answer, and there are no more unknown repeats than lost attempts.
   */
  async conversions(): Promise<{ conversions: LedgerConversion[]; differences: string[] }> {
    const stored = new Map<string, Stored[]>();
    for (const row of await this.#readList()) {
      const txid = row.adv_txid ?? "";
      stored.set(txid, [...(stored.get(txid) ?? []), row]);
    }
    const orders = [...this.#byTxid.values()];
    const strange = [...stored.keys()].filter((txid) => !this.#byTxid.has(txid));
    return {
      conversions: orders.flatMap((order) =>
        (stored.get(order.txid) ?? []).map((row) => conversionOf(order, row)),
      ),
      differences: [
        ...this.wrong,
        ...strange.map((txid) => `order ${txid} was never reported`),
        ...orders.flatMap((order) => orderDifferences(order, stored.get(order.txid) ?? [])),
      ],
    };
  }

  async #readList(): Promise<Stored[]> {
    const rows: Stored[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const query = new URLSearchParams({ limit: "500", ...(cursor === null ? {} : { cursor }) });
      const answer = Page.parse(await this.#market.client.rest(`/conversions?${query}`));
      rows.push(...answer.data);
      cursor = answer.next_cursor;
      if (cursor === null) return rows;
    }
    throw new Error(`more than ${PAGES_MAX} pages of conversions`);
  }
}

function orderDifferences(order: Order, rows: readonly Stored[]): string[] {
  const { txid, sentAtMs, answeredAtMs, repeats, lost } = order;
  const [own, ...others] = rows.filter((row) => !row.is_duplicate);
  if (own === undefined || others.length > 0)
    return [`order ${txid} is stored ${own === undefined ? 0 : 1 + others.length} times`];
  const repeated = rows.length - 1;
  const atMs = Date.parse(own.conv_ts);
  return [
    ...(sentAtMs <= atMs && atMs <= answeredAtMs ? [] : [`order ${txid} has a wrong time`]),
    ...(repeats <= repeated && repeated <= repeats + lost
      ? []
      : [
          `order ${txid} has ${repeated} repeats: ${repeats} were answered, ${lost} more are possible`,
        ]),
  ];
}

function conversionOf(order: Order, row: Stored): LedgerConversion {
  const { click, offer, event, sale } = order;
  const amount = units(sale === "" ? "0" : sale);
  const paid = (type: string, price: string): string => {
    if (type === "cpc" || type === "rpc") return "0.0000";
    const isShare = type === "cps" || type === "rps";
    return decimal(isShare ? share(amount, units(price)) : units(price));
  };
  return {
    ...click,
    id: row.id,
    version: 1,
    conv_ts: Date.parse(row.conv_ts),
    click_ts: click.ts,
    event_code: event.code,
    is_private: event.isPrivate ?? false,
    is_duplicate: row.is_duplicate,
    status: row.is_duplicate ? "rejected" : order.status,
    payout: paid(event.payoutType, event.payout),
    revenue: paid(event.revenueType, event.revenue),
    sale_amount: decimal(amount),
    currency: offer.currency,
    method: "s2s",
  };
}
