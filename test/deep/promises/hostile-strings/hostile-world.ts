import assert from "node:assert";
import { createServer, type Server } from "node:http";
import { z } from "zod";
import type { Cookies } from "../../../browser/console/sign-in-roles.ts";
import { type System, startSystem } from "../../../system/start-system.ts";
import { until } from "../../../system/until.ts";
import type { Hostile } from "./corpus.ts";

const Made = z.object({ data: z.looseObject({ id: z.union([z.int(), z.string()]) }) });
const Rows = z.object({ data: z.array(z.looseObject({})) });
const WITHIN_MS = 30_000;

type Key = "admin" | "partner" | "advertiser";
type Body = Readonly<Record<string, unknown>>;

/** A service whose visitors, partners, advertisers and their servers send nothing but hostile strings. */
export class HostileWorld {
  readonly system: System;
  readonly #answers: Server;
  readonly #strings: readonly Hostile[];
  /** Fields that took a string, and those that refused every one. */
  readonly taken = new Set<string>();
  readonly refused = new Set<string>();

  private constructor(system: System, answers: Server, strings: readonly Hostile[]) {
    this.system = system;
    this.#answers = answers;
    this.#strings = strings;
  }

  static async open(strings: readonly Hostile[]): Promise<HostileWorld> {
    // The server of a partner, which answers postbacks.
    let answered = 0;
    const answers = createServer((_, response) => {
      const { text } = strings[answered++ % strings.length] ?? { text: "" };
      response.writeHead(500, { "content-type": "text/html; charset=utf-8" }).end(text);
    });
    await new Promise<void>((resolve) => answers.listen(0, "127.0.0.1", resolve));
    const system = await startSystem({ env: { ALLOW_PRIVATE_DESTINATIONS: "1" } });
    return new HostileWorld(system, answers, strings);
  }

  async close(): Promise<void> {
    this.#answers.close();
    this.#answers.closeAllConnections();
    await this.system[Symbol.asyncDispose]();
  }

  /** Fills every text that somebody other than the staff can fill, and names of the staff. */
  async fill(cookies: Cookies): Promise<void> {
    await this.#fillPeople(cookies);
    await this.#fillRecords();
    await this.#fillAccounts();
    await this.#fillTraffic();
  }

  /** Names of people stand in the navigation of every screen. */
  async #fillPeople(cookies: Cookies): Promise<void> {
    for (const { name, value } of Object.values(cookies)) {
      const headers = {
        cookie: `${name}=${value}`,
        "x-tracker-membership": "0",
        "sec-fetch-site": "same-origin",
      };
      await this.#try("PATCH /person name", async ({ text }) =>
        this.#send("PATCH", "/person", headers, { name: text }),
      );
    }
  }

  async #fillRecords(): Promise<void> {
    const { admin } = this.#keys();
    for (const [path, bodyOf] of Object.entries(RECORDS)) {
      await this.#each(`POST ${path}`, async ({ text, word }) =>
        this.#send("POST", path, admin, bodyOf(text, word)),
      );
    }
  }

  /** What partners and advertisers say about themselves, and send as requests. */
  async #fillAccounts(): Promise<void> {
    for (const role of ["partner", "advertiser"] as const) {
      const key = this.#keys()[role];
      for (const field of PROFILE) {
        await this.#try(`PATCH /me/profile ${field} as ${role}`, async ({ text }) =>
          this.#send("PATCH", "/me/profile", key, { [field]: text }),
        );
      }
      await this.#each(`POST /me/keys as ${role}`, async ({ text }) =>
        this.#send("POST", "/me/keys", key, { name: text }),
      );
    }
    const address = this.#answers.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await this.#each("POST /postbacks as partner", async ({ text }) =>
      this.#send("POST", "/postbacks", this.#keys().partner, {
        url: `http://127.0.0.1:${port}/?x=${encodeURIComponent(text)}&s={sub1}`,
        offer_id: DEMO_OFFER,
        body: text,
        method: "POST",
      }),
    );
    await this.#each("POST /me/test-postback as advertiser", async ({ text }) =>
      this.#send("POST", "/me/test-postback", this.#keys().advertiser, {
        params: { txid: text, adv1: text, click_id: text, event: text },
      }),
    );
    await this.#each("POST /offers/{id}/access-request", async ({ text }, at) => {
      const made = await this.#send("POST", "/offers", this.#keys().admin, {
        ...OFFER,
        name: text,
        code: `ASK${at}`,
        visibility: "approval",
      });
      const { id } = Made.parse(await made.json()).data;
      return await this.#send(
        "POST",
        `/offers/${String(id)}/access-request`,
        this.#keys().partner,
        {
          message: text,
        },
      );
    });
  }

  /** A click of each string in every parameter and header, and its conversion and a refused call with the same. */
  async #fillTraffic(): Promise<void> {
    const { demo } = this.system.client;
    let last = "";
    await this.#each("a visitor's link", async ({ text }) => {
      const names = [...Array.from({ length: 10 }, (_, at) => `sub${at + 1}`), ...VISITOR];
      const params = new URLSearchParams(Object.fromEntries(names.map((name) => [name, text])));
      const headers = {
        "user-agent": latin(text),
        referer: `https://x.example/${latin(text)}`,
        "accept-language": latin(text),
      };
      const answer = await fetch(`${demo.links.affiliate}?${params.toString()}`, {
        redirect: "manual",
        headers,
      });
      const id = /[0-9a-f]{32}/.exec(answer.headers.get("location") ?? "")?.[0];
      assert(id !== undefined, `the link answered ${answer.status}`);
      last = id;
      // The first is a sale. The second is refused, and stands in the log of inbound calls.
      for (const more of [
        { click_id: id, txid: text },
        { click_id: text, txid: text, event: text, amount: text, coupon: text },
      ]) {
        const sent = { token: demo.postback_token, adv1: text, adv2: text, odd: text, ...more };
        const call = await fetch(`${demo.tracking_url}/pb?${new URLSearchParams(sent).toString()}`);
        const said = await call.text();
        assert(more.click_id !== id || call.ok, `/pb answered ${call.status}: ${said}`);
      }
      return answer;
    });
    const { admin } = this.#keys();
    await until(
      "the last click and its conversion are shown",
      async () => {
        const clicks = await this.#send("GET", `/clicks?preset=today&click_id=${last}`, admin);
        const sales = await this.#send("GET", `/conversions?click_id=${last}`, admin);
        return (await lengthOf(clicks)) === 1 && (await lengthOf(sales)) === 1;
      },
      { timeoutMs: WITHIN_MS },
    );
  }

  /** Sends each string to a field. A refusal is fine: then no screen can show it. */
  async #each(field: string, send: (one: Hostile, at: number) => Promise<Response>): Promise<void> {
    for (const [at, one] of this.#strings.entries()) {
      const { status } = await send(one, at);
      assert(status < 500, `${field} answered ${status} for ${one.text}`);
      if (status < 400) this.taken.add(field);
    }
    if (!this.taken.has(field)) this.refused.add(field);
  }

  /** For a field that exists once: tries the strings until one is taken. */
  async #try(field: string, send: (one: Hostile) => Promise<Response>): Promise<void> {
    const first = this.taken.size;
    for (let at = 0; at < this.#strings.length; at += 1) {
      const one = this.#strings[(first + at) % this.#strings.length];
      assert(one !== undefined);
      const { status } = await send(one);
      assert(status < 500, `${field} answered ${status} for ${one.text}`);
      if (status >= 400) continue;
      this.taken.add(field);
      return;
    }
    this.refused.add(field);
  }

  #keys(): Readonly<Record<Key, Readonly<Record<string, string>>>> {
    const { keys } = this.system.client.demo;
    const of = (key: string) => ({ authorization: `Bearer ${key}` });
    return { admin: of(keys.admin), partner: of(keys.partner), advertiser: of(keys.advertiser) };
  }

  async #send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: Body,
  ): Promise<Response> {
    return await fetch(this.system.client.demo.base_url + path, {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
  }
}

const PROFILE = [
  "company",
  "contact_name",
  "phone",
  "website",
  "country",
  "messenger",
  "traffic_sources",
];
const VISITOR = [
  "source_id",
  "gclid",
  "fbclid",
  "campaign_id",
  "adgroup_id",
  "ad_id",
  "keyword",
  "placement",
  "utm_source",
  "traffic_source",
  "odd",
  "lang",
];
/** The first offer of the demo, which its links lead to. */
const DEMO_OFFER = 1;
const OFFER = {
  advertiser_id: 1,
  destination_url: "https://shop.example/?c={click_id}",
  payout: "1",
  revenue: "2",
};

/** Records of the staff whose texts partners or advertisers see, and of partners that a manager enters. */
const RECORDS: Readonly<Record<string, (text: string, word: string) => Body>> = {
  "/advertisers": (text) => ({
    name: text,
    company: text,
    contact_name: text,
    notes: text,
    tags: [text],
  }),
  "/affiliates": (text) => ({
    name: text,
    company: text,
    notes: text,
    messenger: text,
    tags: [text],
    status: "pending",
  }),
  "/offers": (text) => ({
    ...OFFER,
    name: text,
    description: text,
    restrictions: text,
    tags: [text],
  }),
  "/users": (text) => ({ name: text }),
  "/keys": (text) => ({ name: text, role: "analyst" }),
  "/webhooks": (text, word) => ({
    name: text,
    url: `https://hooks.example/${word}`,
    events: ["conversion.created"],
  }),
};

/** Headers carry bytes only. */
function latin(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?");
}

async function lengthOf(answer: Response): Promise<number> {
  return Rows.parse(await answer.json()).data.length;
}
