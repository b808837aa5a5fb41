import { randomUUID } from "node:crypto";
import { request } from "undici";
import { z } from "zod";
import { randomOf } from "../../../system/seed.ts";
import { pause, type ServiceClient } from "../../../system/service.ts";
import type { Action, Answer, Click, Entry, Ledger } from "./ledger.ts";
import { LISTED_IP, type Opened } from "./open-shops.ts";
import type { Shop } from "./shop.ts";

const ATTEMPTS_MAX = 400;
const RETRY_MS = 100;
const CLICK_SENDERS = 16;
const BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

export type Dice = (below: number) => number;

/** Numbers that are the same for the same seed. */
function dice(seed: number): Dice {
  const random = randomOf(seed);
  return (below) => Math.floor(random() * below);
}

export type Day = Opened & {
  readonly client: ServiceClient;
  readonly seed: number;
  /** Entries of each shop. */
  readonly orders: number;
  /** Called after all clicks were sent. */
  readonly onFirstOrder: () => void;
};

/** Sends the traffic of the day: the shops in parallel, the entries of one shop one after another. */
export async function sendDay(day: Day): Promise<Ledger> {
  const clicks = await sendClicks(day);
  const entries: Entry[] = [];
  day.onFirstOrder();
  await Promise.all(
    day.shops.map(async (shop, at) => {
      const own = clicks.filter((click) => click.shop === at);
      const counter = new Counter({ day, shop, at, clicks: own });
      for (let number = 0; number < day.orders; number += 1) await counter.serve(number);
      entries.push(...counter.entries);
    }),
  );
  return { clicks, entries };
}

const Clicked = z.object({ transaction_id: z.string(), error_code: z.literal(0) });

async function sendClicks({ client, shops, partners, orders, seed }: Day): Promise<Click[]> {
  const roll = dice(seed);
  const clicks: Click[] = [];
  let next = 0;
  const count = Math.ceil(orders / 2) * shops.length;
  const sender = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) {
      const at = number % shops.length;
      const shop = shops[at];
      const partner = roll(partners.length);
      const isBot = shop?.countsAddresses === true && roll(5) === 0;
      const ip = `100.${64 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
      const query = new URLSearchParams({
        token: client.demo.postback_token,
        oid: shop?.code ?? "",
        affid: partners[partner]?.code ?? "",
        ip,
        user_agent: isBot ? BOT : PERSON,
      });
      const answer = await client.attempt(`${client.demo.tracking_url}/clk?${query}`);
      const { transaction_id: id } = Clicked.parse(JSON.parse(answer.body));
      const day = new Date().toISOString().slice(0, 10);
      clicks.push({ id, shop: at, partner, ip, isBot, day });
    }
  };
  await Promise.all(Array.from({ length: CLICK_SENDERS }, sender));
  return clicks;
}

/** Generates and sends the orders of one shop. */
class Counter {
  readonly entries: Entry[] = [];
  readonly #day: Day;
  readonly #shop: Shop;
  readonly #at: number;
  readonly #clicks: readonly Click[];
  readonly #roll: Dice;
  #fresh = 0;

  constructor(of: {
    readonly day: Day;
    readonly shop: Shop;
    readonly at: number;
    readonly clicks: readonly Click[];
  }) {
    this.#day = of.day;
    this.#shop = of.shop;
    this.#at = of.at;
    this.#clicks = of.clicks;
    this.#roll = dice(of.day.seed + 7_919 * (of.at + 1));
  }

  async serve(number: number): Promise<void> {
    const action = this.#generate(number);
    const sentAtMs = Date.now();
    let last = "";
    for (let lost = 0; lost < ATTEMPTS_MAX; lost += 1) {
      const { answer, outage } = await send(this.#day.client, action);
      last = outage;
      if (answer !== undefined) {
        const times = { sentAtMs, answeredAtMs: Date.now(), lost };
        this.entries.push({ number, shop: this.#at, action, answer, ...times });
        return;
      }
      await pause(RETRY_MS);
    }
    const text = JSON.stringify(action);
    throw new Error(`entry ${number} of ${this.#shop.name}: no answer, at last ${last}: ${text}`);
  }

  #generate(number: number): Action {
    const roll = this.#roll(100);
    const earlier = this.entries[this.#roll(Math.max(1, this.entries.length))];
    const id = this.#id();
    if (earlier !== undefined && id !== undefined) {
      if (roll < 7 && earlier.action.kind === "report") return earlier.action;
      if (roll < 16) return this.#update({ conversion_id: id });
      if (roll < 26 && earlier.action.kind === "report") return this.#again(earlier.action.params);
      if (roll < 31) return this.#patch([id], false);
      if (roll < 34) {
        const some = Array.from({ length: 1 + this.#roll(12) }, () => this.#id() ?? id);
        return this.#patch([...new Set([...some, randomUUID()])], true);
      }
    }
    return roll < 40 ? this.#create(number) : this.#new(number, roll);
  }

  /** The ID of a conversion from the answer to the report that created it. */
  #id(): string | undefined {
    for (let tries = 0; tries < 5; tries += 1) {
      const body = this.entries[this.#roll(this.entries.length)]?.answer.body ?? {};
      const id = body["updated"] === undefined ? (body["conversion_id"] ?? body["id"]) : undefined;
      if (typeof id === "string") return id;
    }
    return undefined;
  }

  #new(number: number, roll: number): Action {
    const params: Record<string, string> = { txid: `d${this.#at}-${number}` };
    const source = this.#roll(10);
    if (source === 0 || (source === 1 && this.#clicks.length === 0)) {
      Object.assign(params, { offer_id: this.#shop.code, aff_id: this.#partner() });
    } else if (source === 1) {
      Object.assign(params, { coupon_code: this.#shop.coupon });
    } else {
      params["click_id"] = this.#click();
      // Without an order number, a report of an event that may occur several times looks like its repeat.
      if (this.#roll(3) === 0 && this.#shop.isOncePerClick) delete params["txid"];
    }
    this.#choose(params, number);
    return this.#withOddities(params, number, roll);
  }

  #withOddities(params: Record<string, string>, number: number, roll: number): Action {
    if (params["event"] === "multi") params["txid"] ??= `m${this.#at}-${number}`;
    if (this.#roll(25) === 0) params["test"] = "1";
    if (this.#roll(40) === 0) params["event"] = "nobody";
    if (this.#roll(50) === 0) params["currency"] = "ZZZ";
    if (roll > 88) {
      for (const name of ["payout", "revenue", "conversion_id"]) delete params[name];
      // A pixel has no `ip`: its click's address counts, and for a pixel without a click our own.
      delete params["ip"];
      if (this.#shop.countsAddresses) return this.#report(params);
      return { kind: "report", by: roll % 2 === 0 ? "pixel" : "script", params, isListed: false };
    }
    return this.#report(params);
  }

  #report(params: Record<string, string>): Action {
    const mayBeAdvertiser = this.#shop.advertiser === "own" && params["currency"] !== "ZZZ";
    const by = mayBeAdvertiser && this.#roll(3) === 0 ? "advertiser" : "workspace";
    return { kind: "report", by, params, isListed: this.#roll(3) > 0 };
  }

  /** Another report of the same order, or of the same click and event, with different values. */
  #again(of: Readonly<Record<string, string>>): Action {
    const { click_id, txid, event, offer_id, aff_id } = of;
    const isByOrder = txid !== undefined && (click_id === undefined || this.#roll(3) > 0);
    const named = { click_id, event, offer_id, aff_id, ...(isByOrder ? { txid } : {}) };
    const params = Object.fromEntries(
      Object.entries(named).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    );
    if (params["click_id"] === undefined) {
      params["offer_id"] ??= this.#shop.code;
      params["aff_id"] ??= this.#partner();
      // With neither click nor order number, it would look like its repeat after an outage.
      params["txid"] ??= `x${this.#at}-${this.entries.length}`;
    }
    if (!isByOrder && (event === "multi" || !this.#shop.isOncePerClick))
      params["status"] = this.#status();
    return this.#update(params);
  }

  #update(params: Record<string, string>): Action {
    const what = this.#roll(4);
    if (what !== 0) params["amount"] = this.#money(2_000);
    if (what < 2) params["status"] = this.#status();
    if (this.#roll(6) === 0) params["payout"] = this.#money(50);
    if (this.#roll(6) === 0) params["revenue"] = this.#money(50);
    if (this.#roll(4) === 0) params["currency"] = this.#currency();
    return this.#report(params);
  }

  #create(number: number): Action {
    const body: Record<string, string | number> = {
      offer_id: this.#shop.id,
      affiliate_id: this.#partner(),
      adv_txid: `a${this.#at}-${this.#roll(4) === 0 ? this.#roll(number + 1) : number}`,
    };
    const click = this.#clicks[this.#roll(this.#clicks.length)];
    if (this.#roll(3) === 0 && click !== undefined) {
      body["click_id"] = click.id;
      body["affiliate_id"] = this.#day.partners[click.partner]?.code ?? "";
    }
    this.#fill(body);
    return { kind: "create", body };
  }

  #fill(body: Record<string, string | number>): void {
    const event = this.#event();
    if (event !== "default") body["event"] = event;
    if (this.#roll(5) > 0) body["sale_amount"] = this.#money(2_000);
    if (this.#roll(5) === 0) body["payout"] = this.#money(50);
    if (this.#roll(5) === 0) body["revenue"] = this.#money(50);
    if (this.#roll(5) === 0) body["currency"] = this.#currency();
    if (this.#roll(3) === 0) body["status"] = this.#roll(2) === 0 ? "approved" : "pending";
  }

  #patch(ids: readonly string[], isBulk: boolean): Action {
    const reason = this.#roll(2) === 0 ? "" : (["checked", "returned goods"][this.#roll(2)] ?? "");
    return { kind: "patch", ids, isBulk, status: this.#status(), reason };
  }

  #choose(params: Record<string, string>, number: number): void {
    const event = this.#event();
    if (event !== "default") params["event"] = event;
    if (this.#roll(6) > 0)
      params["amount"] = this.#money([1, 100, 1_000, 100_000][number % 4] ?? 1);
    if (this.#roll(4) === 0) params["status"] = this.#status();
    if (this.#roll(3) === 0) params["currency"] = this.#currency();
    if (this.#roll(6) === 0) params["payout"] = this.#money(20);
    if (this.#roll(6) === 0) params["revenue"] = this.#money(20);
    if (this.#roll(3) === 0) params["ip"] = `203.0.113.${this.#roll(250)}`;
  }

  /** A click, usually one without a conversion so far. */
  #click(): string {
    if (this.#roll(4) > 0 && this.#fresh < this.#clicks.length) {
      this.#fresh += 1;
      return this.#clicks[this.#fresh - 1]?.id ?? "";
    }
    return this.#clicks[this.#roll(this.#clicks.length)]?.id ?? "";
  }

  #event(): string {
    return this.#shop.events[this.#roll(this.#shop.events.length)]?.code ?? "default";
  }

  #partner(): string {
    return this.#day.partners[this.#roll(this.#day.partners.length)]?.code ?? "";
  }

  #status(): string {
    return ["approved", "pending", "rejected"][this.#roll(3)] ?? "approved";
  }

  #currency(): string {
    return ["EUR", "USD", "JPY", "HUF"][this.#roll(4)] ?? "EUR";
  }

  #money(wholeBelow: number): string {
    const fraction = String(this.#roll(10_000)).padStart(4, "0");
    return `${this.#roll(wholeBelow)}.${fraction.slice(0, 1 + this.#roll(4))}`;
  }
}

/** Sends once. Without an answer the outcome is unknown, and `outage` describes what came instead. */
async function send(
  client: ServiceClient,
  action: Action,
): Promise<{ readonly answer?: Answer; readonly outage: string }> {
  try {
    const answer =
      action.kind === "report" ? await report(client, action) : await command(client, action);
    return answer.http === 503 || answer.http === 502
      ? { outage: `${answer.http} ${JSON.stringify(answer.body)}` }
      : { answer, outage: "" };
  } catch (error) {
    // A malformed answer is a failure of the test, not an outage.
    if (error instanceof SyntaxError || error instanceof z.ZodError) throw error;
    return { outage: String(error) };
  }
}

const Body = z.record(z.string(), z.unknown());

async function report(
  client: ServiceClient,
  { by, params, isListed }: Extract<Action, { kind: "report" }>,
): Promise<Answer> {
  const { tracking_url: url, postback_token, advertiser_postback_token } = client.demo;
  const headers = { "x-forwarded-for": isListed ? LISTED_IP : "198.51.100.99" };
  if (by === "pixel" || by === "script") {
    const query = new URLSearchParams({ ...params, ...(by === "script" ? { js: "1" } : {}) });
    const answer = await client.attempt(`${url}/px?${query}`, headers);
    return { http: answer.status, body: outcomeOf(answer.headers["x-tracker-conversion"]) };
  }
  const token = by === "workspace" ? postback_token : advertiser_postback_token;
  const form = new URLSearchParams({ token, ...params });
  const answer =
    params["amount"]?.endsWith("1") === true
      ? await client.attempt(
          `${url}/pb`,
          { ...headers, "content-type": "application/x-www-form-urlencoded" },
          form.toString(),
        )
      : await client.attempt(`${url}/pb?${form}`, headers);
  return { http: answer.status, body: Body.parse(JSON.parse(answer.body)) };
}

/** Parses `<status>`, `<status>; <reason>` or `error: <message>` into the body of the equivalent postback answer. @throws for an outage. */
function outcomeOf(header: string | string[] | undefined): Answer["body"] {
  const text = typeof header === "string" ? header : "";
  if (text.includes("unavailable")) throw new Error(text);
  if (text.startsWith("error")) return { ok: false, error: text };
  const [status = "", reason = ""] = text.split("; ");
  return { ok: true, status, reason, duplicate: reason === "duplicate" };
}

async function command(
  client: ServiceClient,
  action: Exclude<Action, { kind: "report" }>,
): Promise<Answer> {
  const isCreate = action.kind === "create";
  const path = isCreate || action.isBulk ? "/conversions" : `/conversions/${action.ids[0] ?? ""}`;
  const body = isCreate
    ? action.body
    : {
        status: action.status,
        ...(action.reason === "" ? {} : { reason: action.reason }),
        ...(action.isBulk ? { ids: action.ids } : {}),
      };
  const answer = await request(`${client.demo.base_url}${path}`, {
    method: isCreate ? "POST" : "PATCH",
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${client.demo.keys.admin}`,
      "content-type": "application/json",
    },
  });
  const { data, ...rest } = z
    .looseObject({ data: Body.optional() })
    .parse(JSON.parse(await answer.body.text()));
  return { http: answer.statusCode, body: data ?? rest };
}
