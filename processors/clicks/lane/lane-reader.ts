import type { ConsumerMessages, DeliveryInfo } from "@nats-io/jetstream";
import { Backoff } from "../../../schemas/host/backoff.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import { consumeLane } from "../../../schemas/nats/lane-consumer.ts";
import { ensureStreamOfLane } from "../../../schemas/nats/streams.ts";
import type { Acknowledgeable } from "../rows/batch.ts";
import { BACKOFF } from "./backoff.ts";
import { WakeSignal } from "./wake-signal.ts";

/**
 * Limit for the messages that the server sends ahead. All lanes together stay far below 64 MiB, at which the server disconnects a slow
 * client: while a batch is read or written, this process may not read its socket for a while.
 */
const BYTES_AHEAD_MAX = 4 * 1024 * 1024;
const ROOM_POLL_MS = 1_000;

export type LaneReaderOptions = {
  readonly nats: Nats;
  readonly lane: number;
  readonly log: Log;
  readonly take: (bytes: Uint8Array, message: Acknowledgeable) => void;
  readonly isFull: () => boolean;
  /** Whether this process still holds the lane. If not, the consumer belongs to another process and must not be touched. */
  readonly isHeld: () => boolean;
};

/** Passes on the messages of a lane while there is room. Continues through outages of NATS until it is closed. */
export class LaneReader {
  readonly #options: LaneReaderOptions;
  readonly #room = new WakeSignal();
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  #messages: ConsumerMessages | undefined;
  #start: "acknowledged" | "beginning";
  #generation = 0;
  /** The last message that was read for the first time. A stream that was made anew has lower numbers and later times. */
  #newest = { sequence: 0, nanos: 0 };
  #done: Promise<void> | undefined;
  /** Messages in the stream that were not read yet; undefined while unknown. */
  pendingMessages: number | undefined;

  constructor(options: LaneReaderOptions, start: "acknowledged" | "beginning") {
    this.#options = options;
    this.#start = start;
    const report = { log: options.log, event: "clicks.nats-is-away" };
    this.#backoff = new Backoff({ ...BACKOFF, signal: this.#closing.signal, report });
  }

  run(): void {
    this.#done = this.#run();
  }

  /** Reads all messages of the stream again; records that are already known are dropped. */
  rewind(): void {
    this.#start = "beginning";
    end(this.#messages);
  }

  /** The lane has room for more messages. */
  roomMade(): void {
    this.#room.wake();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#room.wake();
    end(this.#messages);
    await this.#done;
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#readOnce();
        this.#backoff.reset();
      } catch (error) {
        await this.#createMissing(error);
        if (!this.#closing.signal.aborted) await this.#backoff.pause(error);
      }
      this.pendingMessages = undefined;
    }
  }

  /** Reads until the messages end or one is missing. The next call starts after the last acknowledged message. */
  async #readOnce(): Promise<void> {
    const { nats, lane, isHeld } = this.#options;
    if (!isHeld()) throw new Error("the lease of the lane is over");
    const start = this.#start;
    const generation = (this.#generation += 1);
    const messages = await consumeLane(nats, lane, { start, bytesMax: BYTES_AHEAD_MAX });
    this.#messages = messages;
    // A rewind or close during the creation of the consumer found no messages to end.
    if (this.#closing.signal.aborted || start !== this.#start) {
      end(messages);
      return;
    }
    this.#start = "acknowledged";
    try {
      await this.#readFrom(messages, generation);
    } finally {
      end(messages);
    }
  }

  async #readFrom(messages: ConsumerMessages, generation: number): Promise<void> {
    const { take, isFull } = this.#options;
    let delivered = 0;
    for await (const message of messages) {
      if (this.#closing.signal.aborted) return;
      // Messages were lost when a connection broke. Stop here: acknowledging a later message would acknowledge them unread.
      if (message.info.deliverySequence !== delivered + 1) {
        this.#options.log.warn(
          { delivered, next: message.info.deliverySequence },
          "clicks.messages-skipped",
        );
        return;
      }
      delivered += 1;
      this.#backoff.reset();
      take(message.data, {
        isRepeat: this.#isRepeat(message.info),
        // In a later consumer this message's number belongs to another message.
        ack: () => {
          if (generation === this.#generation) message.ack();
        },
      });
      this.pendingMessages = message.info.pending;
      while (isFull() && !this.#closing.signal.aborted) await this.#room.wait(ROOM_POLL_MS);
    }
  }

  #isRepeat({ streamSequence: sequence, timestampNanos: nanos }: DeliveryInfo): boolean {
    if (sequence <= this.#newest.sequence && nanos <= this.#newest.nanos) return true;
    this.#newest = { sequence, nanos };
    return false;
  }

  /** Creates the stream if JetStream has lost its store; the producers send again everything that is not stored (P3). */
  async #createMissing(error: unknown): Promise<void> {
    if (!(error instanceof Error) || error.name !== "StreamNotFoundError") return;
    const { nats, lane, log } = this.#options;
    try {
      await ensureStreamOfLane(nats, lane);
      log.warn("clicks.stream-created");
    } catch (failure) {
      log.warn({ err: failure }, "clicks.stream-not-created");
    }
  }
}

/** The driver's promise settles only while somebody continues to read, so it is not awaited. */
function end(messages: ConsumerMessages | undefined): void {
  void messages?.close();
}
