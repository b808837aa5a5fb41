import type { Intent } from "../../processors/clicks/rows/intent.ts";

/** Models of ClickHouse for the protocol of the intents: one server, and replicas with a quorum. */

export const REPLICAS = 3;
const QUORUM = 2;

/** A producer and a position. */
export type Row = `${number}.${number}`;
/** An insert that was sent to a replica. */
export type Sent = {
  readonly intent: Intent;
  readonly rows: readonly Row[];
  readonly replica: number;
};

/** ClickHouse as a writer sees it. */
export interface StoreModel {
  /** Executes an insert; nothing happens while its replica is down. */
  execute(sent: Sent): void;
  /** Whether the insert may be answered: a block with its token is as safe as the settings ask. */
  isConfirmed(sent: Sent): boolean;
  /** Rows that a replica shows, with doubles; undefined while it cannot be read. */
  read(replica: number): Row[] | undefined;
  /** A fault or a step of the replication. */
  happen(choice: number): void;
  /** Every replica is up and has everything. */
  heal(): void;
}

/** One server: a block is stored if its token is new in its partition. */
export class OneServer implements StoreModel {
  readonly #blocks = new Map<string, readonly Row[]>();

  execute({ intent, rows }: Sent): void {
    const key = `${intent.month} ${intent.token}`;
    if (!this.#blocks.has(key)) this.#blocks.set(key, rows);
  }

  isConfirmed({ intent }: Sent): boolean {
    return this.#blocks.has(`${intent.month} ${intent.token}`);
  }

  read(): Row[] {
    return [...this.#blocks.values()].flat();
  }

  happen(): void {
    // Nothing but inserts changes it.
  }

  heal(): void {
    // It has no copies.
  }
}

type Part = { readonly key: string; readonly rows: readonly Row[]; holders: Set<number> };

/**
 * Three replicas. The token is stored with the part, in one transaction. A part is copied later. If no replica that has it is up before a
 * second one has it, it fails: its token is removed, and a replica that returns with it throws it away.
 */
export class Replicas implements StoreModel {
  #parts: Part[] = [];
  readonly #confirmed = new Set<Part>();
  readonly #down = new Set<number>();

  execute({ intent, rows, replica }: Sent): void {
    const key = `${intent.month} ${intent.token}`;
    if (this.#down.has(replica) || this.#parts.some((part) => part.key === key)) return;
    this.#parts.push({ key, rows, holders: new Set([replica]) });
  }

  isConfirmed({ intent, replica }: Sent): boolean {
    const part = this.#parts.find(({ key }) => key === `${intent.month} ${intent.token}`);
    return part !== undefined && this.#confirmed.has(part) && !this.#down.has(replica);
  }

  /** After `system sync replica`, which succeeds only when the replica has every part. */
  read(replica: number): Row[] | undefined {
    if (this.#down.has(replica)) return undefined;
    for (const part of this.#parts) this.#copy(part, replica);
    if (this.#parts.some(({ holders }) => !holders.has(replica))) return undefined;
    return this.#parts.flatMap(({ rows }) => rows);
  }

  happen(choice: number): void {
    const replica = choice % REPLICAS;
    const part = this.#parts[choice % Math.max(1, this.#parts.length)];
    if (choice % 4 === 0 && this.#down.size === 0) {
      this.#down.add(replica);
      if (choice % 8 === 0) this.#fail();
    } else if (choice % 4 === 1) this.#down.delete(replica);
    else if (choice % 4 === 2) this.#fail();
    else if (part !== undefined) this.#copy(part, replica);
  }

  heal(): void {
    this.#down.clear();
    for (let replica = 0; replica < REPLICAS; replica += 1) this.read(replica);
  }

  #copy(part: Part, replica: number): void {
    if (this.#down.has(replica) || part.holders.has(replica)) return;
    if (![...part.holders].some((holder) => !this.#down.has(holder))) return;
    part.holders.add(replica);
    if (part.holders.size >= QUORUM) this.#confirmed.add(part);
  }

  #fail(): void {
    const isLost = (part: Part): boolean =>
      !this.#confirmed.has(part) && [...part.holders].every((holder) => this.#down.has(holder));
    this.#parts = this.#parts.filter((part) => !isLost(part));
  }
}
