import type { ClickLoad } from "./click-load.ts";
import { pause, type ServiceClient } from "./service.ts";

/** A conversion that a report's answer confirmed. */
type AnsweredConversion = { readonly id: string; readonly txid: string };

/** Reports clicks of a load as conversions, one after another, and records those that were answered `ok:true`. */
export class ConversionLoad {
  /** Conversions by txid. */
  readonly answered = new Map<string, AnsweredConversion>();
  /** Answers other than `ok:true` and 503. */
  readonly refused: string[] = [];
  /** One sentence for each id that two reports were answered with. */
  readonly repeatedIds: string[] = [];
  readonly #ids = new Set<string>();
  readonly #client: ServiceClient;
  readonly #clicks: ClickLoad;
  #running = true;
  #loop: Promise<void> = Promise.resolve();
  #taken = 0;

  constructor(client: ServiceClient, clicks: ClickLoad) {
    this.#client = client;
    this.#clicks = clicks;
  }

  start(): void {
    this.#loop = this.#run();
    this.#loop.catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#loop;
  }

  /** Sends a later report about a conversion, which makes a new version of it. */
  async change({ id }: AnsweredConversion, amount: string): Promise<void> {
    await this.#untilOk({ conversion_id: id, amount });
  }

  async #run(): Promise<void> {
    const { answered } = this.#clicks;
    const clickIds = answered.values();
    while (this.#running) {
      // Waits for a click, because an iterator that has reached the end never continues.
      if (this.#taken >= answered.size) {
        await pause(20);
        continue;
      }
      this.#taken += 1;
      const clickId = clickIds.next().value;
      if (clickId === undefined || clickId === "") continue;
      const txid = `${this.#clicks.run}-${this.#taken}`;
      const amount = `${this.#taken}.${String(this.#taken % 10_000).padStart(4, "0")}`;
      const id = await this.#untilOk({ click_id: clickId, txid, amount });
      if (id === undefined) continue;
      if (this.#ids.has(id)) this.repeatedIds.push(`conversion id ${id} was given twice`);
      this.#ids.add(id);
      this.answered.set(txid, { id, txid });
    }
  }

  /** Repeats a report, as its sender would, while there is no answer or an outage. */
  async #untilOk(params: Record<string, string>): Promise<string | undefined> {
    const { tracking_url, postback_token } = this.#client.demo;
    const query = new URLSearchParams({ token: postback_token, ...params });
    while (this.#running) {
      const answer = await this.#client
        .attempt(`${tracking_url}/pb?${query}`)
        .catch(() => undefined);
      if (answer !== undefined && answer.status !== 503) {
        const id = /"conversion_id":"([0-9a-f-]{36})"/.exec(answer.body)?.[1];
        if (answer.status === 200 && answer.body.includes('"ok":true') && id !== undefined)
          return id;
        this.refused.push(`${answer.status} ${answer.body.slice(0, 200)}`);
        return undefined;
      }
      await pause(100);
    }
    return undefined;
  }
}
