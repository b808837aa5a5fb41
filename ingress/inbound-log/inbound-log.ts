import { setTimeout as sleep } from "node:timers/promises";
import { type InboundCall, InboundReply } from "../../schemas/events/inbound-call.ts";
import { RefusalRows } from "../../schemas/events/refusal-rows.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { NatsLink } from "../nats-link.ts";
import type { InboundEvents } from "./metrics.ts";

const TELL_MS = 100;
/** After a failure: an outage is not asked again and again. */
const RETRY_MS = 1_000;
const REPLY_TIMEOUT_MS = 5_000;
const CLOSE_MS = 2_000;
const CALLS_A_MESSAGE = 500;
/** NATS takes a message of 1 MiB. */
const CHARACTERS_A_MESSAGE = 128 * 1024;
const WAITING_CHARACTERS_MAX = 8 * 1024 ** 2;

/**
 * Calls on their way to the inbound log. They are taken beside the answer and told together, ten times a second, to a conversion
 * processor, and forgotten when it says that Postgres has them; until then they are told again, so that one may stand there
 * twice. They wait in memory: a kill -9 takes those that wait.
 */
export class InboundLog {
  readonly #link: Pick<NatsLink, "current">;
  readonly #events: InboundEvents;
  readonly #refusals = new RefusalRows(() => performance.now());
  /** JSON of one call each, oldest first. */
  #waiting: string[] = [];
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<boolean> | undefined;
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(link: Pick<NatsLink, "current">, events: InboundEvents) {
    this.#link = link;
    this.#events = events;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TELL_MS);
  }

  /** Tells what is left, for at most 2 s. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const call of this.#refusals.takeDue(true)) this.#wait(call);
    const end = new AbortController();
    const isTold = this.#tellAll().then(() => end.abort());
    await Promise.race([isTold, sleep(CLOSE_MS, undefined, { signal: end.signal }).catch(String)]);
    if (this.#waiting.length > 0) this.#events.dropped("end", this.#waiting.length);
  }

  /** A call without a click has been refused: of many alike not each has a row. */
  add(call: InboundCall): void {
    if (call.clickId !== null || this.#refusals.admit(call)) this.#wait(call);
    else this.#events.merged();
  }

  #wait(call: InboundCall): void {
    const line = JSON.stringify(call);
    if (this.#characters + line.length > WAITING_CHARACTERS_MAX) {
      this.#events.dropped("full", 1);
      return;
    }
    this.#waiting.push(line);
    this.#characters += line.length;
  }

  #tick(): void {
    for (const call of this.#refusals.takeDue()) this.#wait(call);
    const isQuiet = performance.now() < this.#quietUntilMs;
    if (this.#waiting.length === 0 || this.#telling !== undefined || isQuiet) return;
    this.#telling = this.#tell().finally(() => {
      this.#telling = undefined;
    });
  }

  async #tellAll(): Promise<void> {
    await this.#telling;
    while (this.#waiting.length > 0 && (await this.#tell()));
  }

  /** Tells the oldest; false when they have to wait. */
  async #tell(): Promise<boolean> {
    const nats = this.#link.current();
    if (nats === undefined) return false;
    const count = this.#countOfMessage();
    const lines = this.#waiting.slice(0, count);
    const kind = await this.#ask(nats, `[${lines.join(",")}]`);
    if (kind === "unavailable") {
      this.#quietUntilMs = performance.now() + RETRY_MS;
      return false;
    }
    this.#waiting = this.#waiting.slice(count);
    for (const line of lines) this.#characters -= line.length;
    if (kind === "kept") this.#events.kept(count);
    else this.#events.dropped("refused", count);
    return true;
  }

  async #ask({ connection, subjects }: Nats, calls: string): Promise<InboundReply["kind"]> {
    try {
      const options = { timeout: REPLY_TIMEOUT_MS };
      const reply = await connection.request(subjects.inboundCalls, calls, options);
      return InboundReply.parse(reply.json()).kind;
    } catch (error) {
      // No responder, no time left, or the connection went.
      this.#events.sendFailed(error);
      return "unavailable";
    }
  }

  /** At least one, and no more than a message holds. */
  #countOfMessage(): number {
    let characters = 0;
    let count = 0;
    for (const line of this.#waiting) {
      characters += line.length;
      if (count > 0 && (characters > CHARACTERS_A_MESSAGE || count === CALLS_A_MESSAGE)) break;
      count += 1;
    }
    return count;
  }
}
