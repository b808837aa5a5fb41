/** Silent for this long, in the time of the stream, a producer is taken for gone (G162). */
const PRODUCER_GONE_MS = 120_000;
/** The next start of the same producer ships what the last one left; after this it is done with that. */
const SUCCEEDED_MS = 30_000;
/** By then every live producer has said something: idle ones do so twice a second (click-batch.ts). */
const FIRST_WORD_MS = 1_500;

type Heard = { readonly producer: number; readonly epoch: number; atMs: number };

/**
 * Until when every answered click of a lane is known: the oldest of the last words of all live producers. Counts in the time
 * of the stream, that is in the producers' own `at`, so that it is right in a backlog too.
 */
export class Completeness {
  readonly #heard = new Map<string, Heard>();
  #firstMs: number | undefined;
  #newestMs = 0;

  /** A batch that was cut at `atMs`: all earlier records of this producer and epoch are known. */
  heard(producer: number, epoch: number, atMs: number): void {
    this.#firstMs ??= atMs;
    this.#newestMs = Math.max(this.#newestMs, atMs);
    const key = `${producer}.${epoch}`;
    const known = this.#heard.get(key);
    if (known === undefined) this.#heard.set(key, { producer, epoch, atMs });
    else known.atMs = Math.max(known.atMs, atMs);
  }

  /** UTC ms; 0 while it cannot be told. */
  get completeToMs(): number {
    if (this.#firstMs === undefined || this.#newestMs - this.#firstMs < FIRST_WORD_MS) return 0;
    let oldestMs = this.#newestMs;
    for (const [key, heard] of this.#heard) {
      if (this.#isGone(heard)) this.#heard.delete(key);
      else oldestMs = Math.min(oldestMs, heard.atMs);
    }
    return oldestMs;
  }

  #isGone(heard: Heard): boolean {
    const silentMs = this.#newestMs - heard.atMs;
    if (silentMs > PRODUCER_GONE_MS) return true;
    return silentMs > SUCCEEDED_MS && this.#heard.has(`${heard.producer}.${heard.epoch + 1}`);
  }
}
