import { type ClickBatch, encodeBatch } from "../../../schemas/events/click-batch.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";

type Fields = Record<string, string | number | boolean>;

/**
 * Publishes records of one lane as an ingress process does, from a journal that keeps everything. Batches may be of any size,
 * repeated and out of order.
 */
export class ClickProducer {
  readonly #nats: Nats;
  readonly lane: number;
  readonly producer: number;
  readonly epoch: number;
  readonly lines: string[] = [];

  constructor(nats: Nats, at: { lane: number; producer: number; epoch?: number }) {
    this.#nats = nats;
    this.lane = at.lane;
    this.producer = at.producer;
    this.epoch = at.epoch ?? 1;
  }

  /** Appends clicks to the journal; returns the position of the first. */
  record(...clicks: Fields[]): number {
    const first = this.lines.length;
    for (const click of clicks) this.lines.push(JSON.stringify(click));
    return first;
  }

  /** Publishes positions `from` to `to`, and waits until the stream has them. */
  async ship(from: number, to: number, head: Partial<ClickBatch> = {}): Promise<void> {
    const lines = this.lines.slice(from, to);
    const { lane, producer, epoch } = this;
    await this.publish(
      encodeBatch({ producer, epoch, lane, first: from, at: Date.now(), ...head, lines }),
    );
  }

  /** Ships everything in batches of at most `size`. */
  async shipAll(size = 256): Promise<void> {
    for (let from = 0; from < this.lines.length; from += size) {
      await this.ship(from, Math.min(from + size, this.lines.length));
    }
  }

  /** Publishes its position and the time `at` without records, as an ingress without traffic does. */
  async idle(at = Date.now(), head: Partial<ClickBatch> = {}): Promise<void> {
    await this.ship(this.lines.length, this.lines.length, { at, ...head });
  }

  async publish(bytes: Uint8Array): Promise<void> {
    await this.#nats.jetstream.publish(this.#nats.subjects.clicks(this.lane), bytes);
  }
}

let minted = 0;

/** A click with defaults; a test gives only the fields that matter to it. */
export function aClick(fields: Fields = {}): Fields {
  minted += 1;
  const ts = typeof fields["ts"] === "number" ? fields["ts"] : Date.now();
  const offer = typeof fields["offer_id"] === "number" ? fields["offer_id"] : 4;
  const shard = (offer % 4).toString(16).padStart(2, "0");
  const random = minted.toString(16).padStart(18, "0");
  return {
    click_id: `${ts.toString(16).padStart(12, "0")}${shard}${random}`,
    ts,
    workspace_id: 1,
    link_type: "affiliate",
    status: "redirect",
    offer_id: offer,
    affiliate_id: 3,
    visitor: minted,
    may_be_unique: true,
    country: "DE",
    domain: "trk.example.com",
    ...fields,
  };
}
