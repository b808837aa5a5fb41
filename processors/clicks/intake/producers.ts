import { PositionSet } from "./position-set.ts";

/** One start of one ingress process: its own sequence of positions in every lane. */
export type Producer = {
  readonly producer: number;
  readonly epoch: number;
  /** The start that this epoch belongs to: the first one that was heard. Undefined while no batch had a nonce. */
  nonce: string | undefined;
  /** What was read: in the table, or on its way there. */
  accepted: PositionSet;
  /** What is in the table, or noted as lost. */
  settled: PositionSet;
  /** Something of it was read since this writer has the lane. */
  isActive: boolean;
  /** How far `settled` was when it was last noted in Postgres. */
  notedSize: number;
};

/** The producers of a lane, by number and epoch. As many as ever wrote to it; each takes some hundred bytes. */
export class Producers {
  readonly #all = new Map<string, Producer>();
  /** Those whose nonce ClickHouse does not have yet (producer-claims.ts). */
  readonly unwrittenClaims = new Set<Producer>();

  get(producer: number, epoch: number): Producer {
    const key = `${producer}.${epoch}`;
    let known = this.#all.get(key);
    if (known === undefined) {
      known = {
        producer,
        epoch,
        nonce: undefined,
        accepted: new PositionSet(),
        settled: new PositionSet(),
        isActive: false,
        notedSize: 0,
      };
      this.#all.set(key, known);
    }
    return known;
  }

  /** The epoch belongs to the start with this nonce unless it has one already. */
  claim(producer: Producer, nonce: string | undefined): void {
    if (nonce === undefined || producer.nonce !== undefined) return;
    producer.nonce = nonce;
    this.unwrittenClaims.add(producer);
  }

  /** What ClickHouse knows of a claim. */
  restoreClaim(producer: Producer, nonce: string): void {
    producer.nonce = nonce;
    this.unwrittenClaims.delete(producer);
  }

  /** Gaps in what is settled, over all producers. */
  get openHoles(): number {
    let holes = 0;
    for (const { settled } of this.#all.values()) holes += settled.holes.length;
    return holes;
  }

  all(): IterableIterator<Producer> {
    return this.#all.values();
  }
}
