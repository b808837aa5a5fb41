import { type InboundCall, InboundReply } from "../../schemas/events/inbound-call.ts";
import { RefusalRows } from "../../schemas/events/refusal-rows.ts";
import { Batcher } from "../../schemas/host/batcher.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";
import type { InboundEvents } from "./metrics.ts";

const SEND_MS = 100;
/** The wait after a failure, so that an outage is not flooded with attempts. */
const RETRY_MS = 1_000;
const REPLY_TIMEOUT_MS = 5_000;
const CLOSE_MS = 2_000;
const CALLS_PER_MESSAGE = 500;
/** At most 384 KiB of UTF-8; NATS accepts messages of up to 1 MiB. */
const CHARACTERS_PER_MESSAGE = 128 * 1024;
const WAITING_CHARACTERS_MAX = 8 * 1024 ** 2;

/**
 * Queues calls for the inbound log, without delaying their answers. Ten times a second it sends them to a conversion processor, and
 * removes them when the processor confirms that Postgres has them. Until then it sends them again, so a call may get two rows. The
 * queue is in memory: a kill -9 loses what is in it.
 */
export class InboundLog {
  readonly #link: Pick<NatsLink, "current">;
  readonly #events: InboundEvents;
  readonly #refusals = new RefusalRows(() => performance.now());
  /** Each entry is the JSON of one call. */
  readonly #calls = new Batcher<string>({
    flush: (lines) => this.#send(lines),
    itemsMax: CALLS_PER_MESSAGE,
    sizeOf: (line) => line.length,
    sizeMax: CHARACTERS_PER_MESSAGE,
    waitingMax: WAITING_CHARACTERS_MAX,
    gatherMs: SEND_MS,
    repeatInMs: (error) => (error instanceof NotConnectedError ? SEND_MS : RETRY_MS),
  });
  #timer: NodeJS.Timeout | undefined;

  constructor(link: Pick<NatsLink, "current">, events: InboundEvents) {
    this.#link = link;
    this.#events = events;
  }

  /** Calls that are not stored yet. */
  get waiting(): number {
    return this.#calls.count;
  }

  start(): void {
    this.#timer = setInterval(() => {
      for (const call of this.#refusals.takeDue()) this.#wait(call);
    }, SEND_MS);
  }

  /** Sends what is left, for at most 2 s. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const call of this.#refusals.takeDue(true)) this.#wait(call);
    const end = new AbortController();
    const isSent = this.#calls.close().then(() => end.abort());
    await Promise.race([isSent, pause(CLOSE_MS, end.signal)]);
    if (this.waiting > 0) this.#events.dropped("end", this.waiting);
  }

  /** Adds a call. Many equal refusals without a click ID share a row (`RefusalRows`). */
  add(call: InboundCall): void {
    if (call.clickId !== null || this.#refusals.admit(call)) this.#wait(call);
    else this.#events.merged();
  }

  #wait(call: InboundCall): void {
    if (!this.#calls.add(JSON.stringify(call))) this.#events.dropped("full", 1);
  }

  /** Throws if the calls must be sent again. */
  async #send(lines: readonly string[]): Promise<[]> {
    const nats = this.#link.current();
    if (nats === undefined) throw new NotConnectedError();
    const kind = await this.#ask(nats, `[${lines.join(",")}]`);
    if (kind === "unavailable") throw new Error("the conversion processors cannot store calls now");
    if (kind === "kept") this.#events.kept(lines.length);
    else this.#events.dropped("refused", lines.length);
    return [];
  }

  async #ask({ connection, subjects }: Nats, calls: string): Promise<InboundReply["kind"]> {
    try {
      const options = { timeout: REPLY_TIMEOUT_MS };
      const reply = await connection.request(subjects.inboundCalls, calls, options);
      return InboundReply.parse(reply.json()).kind;
    } catch (error) {
      // No responder, a time-out, or the connection ended.
      this.#events.sendFailed(error);
      return "unavailable";
    }
  }
}

/** Nothing was sent. The batcher tries again soon, because an attempt without a connection costs nothing. */
class NotConnectedError extends Error {
  override readonly name = "NotConnectedError";
}
