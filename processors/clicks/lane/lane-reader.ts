import type { ConsumerMessages } from "@nats-io/jetstream";
import { Backoff } from "../../../schemas/host/backoff.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import { consumeLane } from "../../../schemas/nats/lane-consumer.ts";
import { ensureStreams } from "../../../schemas/nats/streams.ts";
import type { Acknowledgeable } from "../intake/batch.ts";
import { BACKOFF } from "./backoff.ts";
import { Bell } from "./bell.ts";

/**
 * What the server sends ahead. All lanes together stay far below the 64 MiB at which it takes a client for dead: a batch that
 * is being read or written can keep this process from its socket for a while.
 */
const BYTES_AHEAD_MAX = 4 * 1024 * 1024;
const ROOM_POLL_MS = 1_000;

export type LaneReaderOptions = {
  readonly nats: Nats;
  readonly lane: number;
  readonly log: Log;
  readonly take: (bytes: Uint8Array, message: Acknowledgeable) => void;
  readonly isFull: () => boolean;
  /** Whether the lane is still this process's: else its consumer is another's, and is let alone. */
  readonly isHeld: () => boolean;
};

/** Hands over the messages of a lane, for as long as there is room. Goes on through outages of NATS, until it is closed. */
export class LaneReader {
  readonly #options: LaneReaderOptions;
  readonly #room = new Bell();
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  #messages: ConsumerMessages | undefined;
  #start: "acknowledged" | "beginning";
  #generation = 0;
  #done: Promise<void> | undefined;
  /** In the stream and not read yet; undefined while it is not known. */
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

  /** Reads everything once more that the stream still holds: what is known is dropped. */
  rewind(): void {
    this.#start = "beginning";
    end(this.#messages);
  }

  /** There is room again. */
  roomMade(): void {
    this.#room.ring();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#room.ring();
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

  /** Until the messages end, or one is missing: then the next call begins after the last one acknowledged. */
  async #readOnce(): Promise<void> {
    const { nats, lane, isHeld } = this.#options;
    if (!isHeld()) throw new Error("the lease of the lane is over");
    const start = this.#start;
    const generation = (this.#generation += 1);
    const messages = await consumeLane(nats, lane, { start, bytesMax: BYTES_AHEAD_MAX });
    this.#messages = messages;
    // What was asked for while the consumer was being made found no messages to end.
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
      // Messages that were on their way when a connection broke: taking the next would acknowledge them unread.
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
        // A number of the consumer before means another message to this one.
        ack: () => {
          if (generation === this.#generation) message.ack();
        },
      });
      this.pendingMessages = message.info.pending;
      while (isFull() && !this.#closing.signal.aborted) await this.#room.wait(ROOM_POLL_MS);
    }
  }

  /** A JetStream that lost its store starts anew: the producers send again what is not stored (P3). */
  async #createMissing(error: unknown): Promise<void> {
    if (!(error instanceof Error) || error.name !== "StreamNotFoundError") return;
    const { nats, log } = this.#options;
    try {
      await ensureStreams(nats);
      log.warn("clicks.stream-created");
    } catch (failure) {
      log.warn({ err: failure }, "clicks.stream-not-created");
    }
  }
}

/** The promise that the driver gives for this settles only where somebody reads on, so nobody waits for it. */
function end(messages: ConsumerMessages | undefined): void {
  void messages?.close();
}
