import { z } from "zod";
import type { RollingLoad } from "./rolling-load.ts";
import { pause } from "./service.ts";

const Recorded = z.looseObject({ ok: z.literal(true), conversion_id: z.uuid() });
const Created = z.looseObject({ data: z.looseObject({ id: z.uuid() }) });

const REPORTERS = 2;
const REPEAT_MS = 200;
const REPEATED_FOR_MS = 20_000;

export type ReportLoadOptions = {
  readonly clicks: RollingLoad;
  readonly run: string;
  readonly trackingPort: number;
  /** Token of the advertiser. */
  readonly token: string;
  /** Ports of the api processes that take requests now. */
  readonly apiPorts: () => readonly number[];
  /** The API key of an admin. */
  readonly apiKey: string;
  readonly offerId: number;
  readonly affiliateId: number;
  /** The pause of each loop after each request. */
  readonly pauseMs: number;
};

/** Reports clicks of a load as conversions, makes conversions through the API, and reads lists and reports. */
export class ReportLoad {
  /** Conversion id of each report that was answered `ok:true`, by its txid. */
  readonly reported = new Map<string, string>();
  /** Ids of conversions that the API made. */
  readonly created: string[] = [];
  readonly failures: string[] = [];
  /** Lists and reports that the API answered. */
  read = 0;
  /**
   * Answers of 503 with Retry-After, whose requests were repeated: while the writer of a lane is replaced, nobody knows its newest
   * clicks. A request that still gets one after 20 s has failed.
   */
  repeated = 0;
  /** Connections that were reset before an answer; their requests were repeated. */
  resets = 0;
  readonly #options: ReportLoadOptions;
  readonly #loops: Promise<void>[] = [];
  #isRunning = true;
  #next = 0;
  #reportedClick = "";

  constructor(options: ReportLoadOptions) {
    this.#options = options;
  }

  start(): void {
    for (let i = 0; i < REPORTERS; i += 1) this.#loops.push(this.#repeat(() => this.#report()));
    this.#loops.push(this.#repeat(() => this.#create()));
    this.#loops.push(this.#repeat(() => this.#read()));
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#loops);
  }

  async #repeat(once: () => Promise<void>): Promise<void> {
    while (this.#isRunning) {
      await once();
      await pause(this.#options.pauseMs);
    }
  }

  async #report(): Promise<void> {
    const { clicks, run, token, trackingPort } = this.#options;
    const clickId = clicks.newest;
    // A second report of one click would be a duplicate.
    if (clickId === undefined || clickId === this.#reportedClick) return;
    this.#reportedClick = clickId;
    this.#next += 1;
    const txid = `${run}-${this.#next}`;
    const query = new URLSearchParams({ token, click_id: clickId, txid });
    const url = `http://127.0.0.1:${trackingPort}/pb?${query}`;
    // A report that got no answer is repeated by its sender, and counts once because of its txid.
    const body = await this.#ask(url, { headers: { connection: "close" } });
    const answer = Recorded.safeParse(body);
    if (answer.success) this.reported.set(txid, answer.data.conversion_id);
    else if (body !== undefined) this.failures.push(`/pb: ${JSON.stringify(body)}`);
  }

  async #create(): Promise<void> {
    const { offerId, affiliateId } = this.#options;
    const body = JSON.stringify({ offer_id: offerId, affiliate_id: affiliateId, event: "default" });
    const created = Created.safeParse(await this.#askApi("/conversions", { method: "POST", body }));
    if (created.success) this.created.push(created.data.data.id);
  }

  async #read(): Promise<void> {
    const paths = [
      "/conversions?limit=5",
      "/reports?metrics=clicks,conversions&preset=today",
      "/clicks?limit=5",
    ];
    const path = paths[this.read % paths.length] ?? "";
    if ((await this.#askApi(path, {})) !== undefined) this.read += 1;
  }

  async #askApi(path: string, request: RequestInit): Promise<unknown> {
    const { apiKey, apiPorts } = this.#options;
    const ports = apiPorts();
    const port = ports[(this.read + this.created.length) % ports.length] ?? 0;
    const headers = {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      connection: "close",
    };
    return await this.#ask(`http://127.0.0.1:${port}/api/v1${path}`, { ...request, headers });
  }

  /** The body of a 2xx answer; undefined after a failure, which is noted. */
  async #ask(url: string, request: RequestInit): Promise<unknown> {
    const deadlineMs = Date.now() + REPEATED_FOR_MS;
    for (;;) {
      let answer: Response;
      try {
        answer = await fetch(url, request);
      } catch (error) {
        if (codeOf(error) === "ECONNRESET" && request.method !== "POST") {
          this.resets += 1;
          continue;
        }
        this.failures.push(`${url}: ${String(error)} ${codeOf(error)}`);
        return undefined;
      }
      if (answer.ok) return await answer.json();
      if (isToBeRepeated(answer, request) && Date.now() < deadlineMs) {
        await answer.text();
        this.repeated += 1;
        await pause(REPEAT_MS);
        continue;
      }
      this.failures.push(`${url}: ${answer.status} ${(await answer.text()).slice(0, 200)}`);
      return undefined;
    }
  }
}

/** A postback or a question. A conversion that the API makes has no txid, so its sender would not repeat it. */
function isToBeRepeated(answer: Response, { method }: RequestInit): boolean {
  return method === undefined && answer.status === 503 && answer.headers.has("retry-after");
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
