import { PositionSet } from "../rows/position-set.ts";

/** One start of one ingress process: its own sequence of positions in every lane. */
export type Producer = {
  readonly producer: number;
  readonly epoch: number;
  /** Nonce of the start to which this epoch belongs: the first one heard. Undefined until a batch has a nonce. */
  nonce: string | undefined;
  /** Positions that were read: they are in the table or on their way there. */
  accepted: PositionSet;
  /** Positions that are in the table or noted as lost. */
  settled: PositionSet;
  /** Whether this writer has read anything of this start. */
  isActive: boolean;
  /** Size of `settled` when it was last noted in Postgres. */
  notedSize: number;
};

/** All producers that ever wrote to a lane, by number and epoch. Each takes some hundred bytes. */
export class Producers {
  readonly #all = new Map<string, Producer>();
  /** Producers whose nonce is not in ClickHouse yet (producer-claims.ts). */
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

  /** Assigns the epoch to the start with this nonce, unless it already has one. */
  claim(producer: Producer, nonce: string | undefined): void {
    if (nonce === undefined || producer.nonce !== undefined) return;
    producer.nonce = nonce;
    this.unwrittenClaims.add(producer);
  }

  /** Restores a claim from ClickHouse. */
  restoreClaim(producer: Producer, nonce: string): void {
    producer.nonce = nonce;
    this.unwrittenClaims.delete(producer);
  }

  /** Number of gaps in the settled positions of all producers. */
  get openHoles(): number {
    let holes = 0;
    for (const { settled } of this.#all.values()) holes += settled.holes.length;
    return holes;
  }

  all(): IterableIterator<Producer> {
    return this.#all.values();
  }
}
