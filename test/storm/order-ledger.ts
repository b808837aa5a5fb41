import { z } from "zod";
import { type HttpAnswer, pause, type ServiceClient } from "../system/service.ts";

const USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
const AFTER_OUTAGE_MS = 100;
const Body = z.object({ ok: z.boolean(), conversion_id: z.string().optional() });

/** A report that was answered `ok:true`. */
export type Order = { readonly txid: string; readonly conversionId: string; readonly atMs: number };

/**
 * Visitors who buy at once: each clicks, and its order is reported as soon as the click is answered. A report without an answer, or with a
 * 503, is sent again, as every advertiser's server does. The ledger has what was answered.
 */
export class OrderLedger {
  /** Orders by txid. */
  readonly accepted = new Map<string, Order>();
  /** Answers that no report of an answered click may get: a business error, or an outage without Retry-After (P12, P15). */
  readonly faults: string[] = [];
  /** Reports that were answered with an outage. */
  outages = 0;
  readonly run: string;
  readonly #client: ServiceClient;
  readonly #link: string;
  readonly #pauseMs: number;
  #next = 0;
  #isRunning = true;
  #loops: Promise<void>[] = [];

  /** `link` is a tracking link without query. */
  constructor(client: ServiceClient, link: string, options: { run: string; pauseMs: number }) {
    this.#client = client;
    this.#link = link;
    this.run = options.run;
    this.#pauseMs = options.pauseMs;
  }

  start(buyers: number): void {
    this.#loops = Array.from({ length: buyers }, () => this.#buy());
    // `stop` reports the error of a loop that failed.
    for (const loop of this.#loops) loop.catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#loops);
  }

  async #buy(): Promise<void> {
    while (this.#isRunning) {
      const txid = `${this.run}-${this.#next++}`;
      const clickId = await clickOnce(this.#client, this.#link);
      if (clickId !== undefined) await this.report({ click_id: clickId, txid });
      await pause(this.#pauseMs);
    }
  }

  /** Reports until there is an answer. Returns whether it was a duplicate; undefined if the answer is a fault. */
  async report(params: {
    readonly click_id: string;
    readonly txid: string;
  }): Promise<boolean | undefined> {
    const { tracking_url, postback_token } = this.#client.demo;
    const query = new URLSearchParams({ token: postback_token, ...params });
    for (;;) {
      const answer = await this.#client
        .attempt(`${tracking_url}/pb?${query}`)
        .catch(() => undefined);
      if (answer !== undefined && !this.#isOutage(answer)) return this.#note(params.txid, answer);
      await pause(AFTER_OUTAGE_MS);
    }
  }

  #isOutage({ status, headers, body }: HttpAnswer): boolean {
    if (status !== 503) return false;
    this.outages += 1;
    if (headers["retry-after"] === undefined) this.faults.push(`503 without Retry-After: ${body}`);
    return true;
  }

  #note(txid: string, { status, body }: HttpAnswer): boolean | undefined {
    const parsed = status === 200 ? Body.safeParse(JSON.parse(body)) : undefined;
    const conversionId = parsed?.data?.ok === true ? parsed.data.conversion_id : undefined;
    if (conversionId === undefined) {
      this.faults.push(`${txid}: HTTP ${status} ${body.slice(0, 200)}`);
      return undefined;
    }
    this.accepted.set(txid, { txid, conversionId, atMs: Date.now() });
    return body.includes('"duplicate":true');
  }
}

/** One click. Returns its ID, or undefined while ingress is away. */
export async function clickOnce(client: ServiceClient, link: string): Promise<string | undefined> {
  try {
    const { headers } = await client.attempt(link, { "user-agent": USER_AGENT });
    return /trk_cid=([0-9a-f]{32})/.exec(String(headers["set-cookie"]))?.[1];
  } catch {
    // Killed under way: the visitor has no answer.
    return undefined;
  }
}
