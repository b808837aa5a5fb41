import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newNonce } from "./journal-run.ts";
import { writeDurably } from "./write-durably.ts";

const MOVED_FILE = "moved";
const MOVED_LINE = /^(\d{1,15}) (\d{1,5})$/;

/**
 * Epochs of a journal folder that a writer has assigned to another process, in at least one lane. Their records are shipped under a number
 * allocated for them. The number is durable before the first record leaves, so that no restart ships them under a third one.
 */
export class MovedEpochs {
  readonly #file: string;
  readonly #producers = new Map<number, number>();
  /** Numbers that may not be on the disk yet. They are kept, because a number is used up for good. */
  readonly #allocated = new Map<number, number>();

  constructor(folder: string) {
    this.#file = join(folder, MOVED_FILE);
    if (!existsSync(this.#file)) return;
    for (const line of readFileSync(this.#file, "utf8").split("\n")) {
      const match = MOVED_LINE.exec(line);
      if (match !== null) this.#producers.set(Number(match[1]), Number(match[2]));
    }
  }

  /** The number of a moved epoch; undefined for an epoch that keeps the folder's number. */
  producerOf(epoch: number): number | undefined {
    return this.#producers.get(epoch);
  }

  get all(): IterableIterator<[epoch: number, producer: number]> {
    return this.#producers.entries();
  }

  /** @throws what `allocate` or the disk throws. The epoch then waits for the next attempt. */
  async move(epoch: number, allocate: (claim: string) => Promise<number>): Promise<number> {
    const producer = this.#allocated.get(epoch) ?? (await allocate(newNonce()));
    this.#allocated.set(epoch, producer);
    const moved = new Map(this.#producers).set(epoch, producer);
    const lines = [...moved].map(([of, to]) => `${of} ${to}\n`);
    writeDurably(this.#file, lines.join(""));
    this.#producers.set(epoch, producer);
    return producer;
  }
}
