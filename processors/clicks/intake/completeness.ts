import { JOURNALED_MS } from "../../../schemas/click-lookup/journaled.ts";

/** By then every live producer has said something: idle ones do so twice a second (click-batch.ts). */
const FIRST_WORD_MS = 1_500;
/** Of producers that do not say when they end: silent for this long they are taken for gone. */
const GONE_MS = 120_000;
/** Of the same: a start ships what the one before has left; after this it is done with that. */
const SUCCEEDED_MS = 30_000;

/** What a message says of its producer, besides the records. */
export type ProducerWord = {
  readonly producer: number;
  readonly epoch: number;
  readonly at: number;
  /** The position behind its records; repeated ones lie before those that were heard. */
  readonly next: number;
  readonly endedBefore?: number | undefined;
};

/** An epoch of which more may come; `saidMs` is its last word, UTC ms. */
export type OpenEpoch = {
  readonly producer: number;
  readonly epoch: number;
  readonly saidMs: number;
};

/** What a producer recorded until a moment of its own clock, UTC ms. */
type Recorded = { readonly producer: number; readonly untilMs: number };

/** A producer whose journal counts as lost. */
type GivenUp = {
  /** Clicks that it answered until then and that are not known count as lost. UTC ms. */
  readonly untilMs: number;
  /** The newest one; infinite when it is not known which. */
  readonly epoch: number;
};

type Known = {
  /** Last words of the epochs that may go on. */
  readonly open: Map<number, number>;
  /** How far the positions of each were heard. */
  readonly nexts: Map<number, number>;
  /** Undefined for one that does not say when it ends. */
  endedBefore: number | undefined;
  /** The last word of the epochs that have ended. */
  endedMs: number;
  /** Nobody waits any more for what an epoch that has not ended may have left. */
  givenUp: GivenUp | undefined;
  /** Another process with this number was refused: from when on, and until when that was heard. */
  refused: { readonly fromMs: number; readonly toMs: number } | undefined;
};

/**
 * Until when every answered click of a lane is known: the oldest of the last words of all producers that have not ended. A
 * producer that is silent and has not said that it ended may be cut off with answered clicks in its journal, so nothing that
 * was answered after its last word is called unknown (G162, P15). Counts in the time of the stream, that is in the producers'
 * own `at`, so that it is right in a backlog too.
 */
export class Completeness {
  readonly #known = new Map<number, Known>();
  #firstMs: number | undefined;
  #newestMs = 0;
  readonly #gone: OpenEpoch[] = [];
  readonly #patienceMs: number;
  readonly #nowMs: () => number;

  /**
   * `patienceMs`: how long a producer may be silent that says when it ends. `nowMs`: the clock of this process, so that a producer
   * whose clock is days ahead makes no other one look gone.
   */
  constructor(options: { readonly patienceMs?: number | undefined; nowMs?: () => number } = {}) {
    this.#patienceMs = options.patienceMs ?? JOURNALED_MS;
    this.#nowMs = options.nowMs ?? (() => Number.POSITIVE_INFINITY);
  }

  /** A batch that was cut at `at`: all earlier records of this producer and epoch are known. */
  heard(word: ProducerWord): void {
    const { producer, epoch, at, endedBefore } = word;
    this.#firstMs ??= at;
    this.#newestMs = Math.max(this.#newestMs, at);
    const known = this.#get(producer);
    if (endedBefore !== undefined) {
      known.endedBefore = Math.max(known.endedBefore ?? 0, endedBefore);
    }
    if (epoch < (known.endedBefore ?? 0)) known.endedMs = Math.max(known.endedMs, at);
    else this.#note(known, word);
    for (const [other, saidMs] of known.open) {
      if (other >= (known.endedBefore ?? 0)) continue;
      known.open.delete(other);
      known.nexts.delete(other);
      known.endedMs = Math.max(known.endedMs, saidMs);
    }
    if (hasShippedAll(known)) known.givenUp = undefined;
  }

  /** A producer's clock may go back, and then so does its word; with records that it repeats it does not. */
  #note(known: Known, { epoch, at, next }: ProducerWord): void {
    const saidMs = known.open.get(epoch) ?? 0;
    const heardNext = known.nexts.get(epoch) ?? 0;
    known.nexts.set(epoch, Math.max(heardNext, next));
    // A declaration of loss has no time.
    const isBack = at > 0 && at < saidMs && next >= heardNext;
    known.open.set(epoch, isBack ? at : Math.max(saidMs, at));
    if (!isBack) return;
    this.#newestMs = Math.max(...[...this.#known.values()].flatMap(wordsOf));
    this.#firstMs = Math.min(this.#firstMs ?? at, at);
  }

  /**
   * A batch that was refused, because its producer has the number and epoch of another: clicks of the number may lie in a
   * journal that comes home under another one, so none since then is called unknown for two minutes.
   */
  refused({ producer, at }: Pick<ProducerWord, "producer" | "at">): void {
    // A declaration of loss has no time.
    if (at === 0) return;
    this.#newestMs = Math.max(this.#newestMs, at);
    const known = this.#get(producer);
    const fromMs = Math.min(at, known.refused?.fromMs ?? at);
    known.refused = { fromMs, toMs: Math.max(at, known.refused?.toMs ?? 0) };
  }

  /** What an earlier owner of the lane has heard. */
  remember(epochs: readonly OpenEpoch[]): void {
    for (const { producer, epoch, saidMs } of epochs) {
      const known = this.#get(producer);
      known.endedBefore ??= 0;
      if (epoch >= known.endedBefore)
        known.open.set(epoch, Math.max(known.open.get(epoch) ?? 0, saidMs));
    }
  }

  /** Somebody who knows says, at `nowMs` (UTC), that nothing more will come of it. */
  forget({ producer, epoch }: Pick<OpenEpoch, "producer" | "epoch">, nowMs = this.#newestMs): void {
    const known = this.#known.get(producer);
    if (known?.open.has(epoch) === true) this.#giveUp(known, epoch, nowMs);
  }

  /** Producers that were given up before: when, UTC ms. */
  rememberGivenUp(all: readonly { readonly producer: number; readonly atMs: number }[]): void {
    for (const { producer, atMs } of all)
      this.#get(producer).givenUp = { untilMs: atMs, epoch: Number.POSITIVE_INFINITY };
  }

  /** Epochs of which nothing was heard for as long as they are waited for, since this was last asked. */
  takeGone(): OpenEpoch[] {
    this.#dropGone();
    return this.#gone.splice(0);
  }

  /** Epochs that have not ended, of producers that would say so. */
  get open(): OpenEpoch[] {
    this.#dropGone();
    return [...this.#known].flatMap(([producer, { open, endedBefore }]) =>
      endedBefore === undefined
        ? []
        : [...open].map(([epoch, saidMs]) => ({ producer, epoch, saidMs })),
    );
  }

  /**
   * UTC ms; 0 while it cannot be told. `caughtUpMs` is the present time when everything was read that the stream holds: when
   * all producers have ended, nothing more is on its way.
   */
  completeToMs(caughtUpMs?: number): number {
    this.#dropGone();
    const words = [...this.#known.values()].flatMap(wordsOf);
    if (words.length === 0 && caughtUpMs !== undefined) return caughtUpMs + 1;
    if (this.#firstMs === undefined || this.#newestMs - this.#firstMs < FIRST_WORD_MS) return 0;
    return Math.min(this.#newestMs, ...words);
  }

  /** The same for the clicks of one producer, which a click id names; 0 for one that was never heard. */
  completeToMsOf(producer: number): number {
    this.#dropGone();
    const known = this.#known.get(producer);
    if (known === undefined) return 0;
    const words = wordsOf(known);
    return words.length === 0
      ? Math.max(known.endedMs, known.givenUp?.untilMs ?? 0)
      : Math.min(...words);
  }

  /** Whether what this producer recorded until then counts as lost if it is not known: its journal was given up. */
  isGivenUpOf({ producer, untilMs }: Recorded): boolean {
    this.#dropGone();
    const known = this.#known.get(producer);
    if (known?.givenUp === undefined || known.givenUp.untilMs < untilMs) return false;
    return wordsOf(known).every((word) => word > untilMs);
  }

  /**
   * Whether nothing more can come of what this producer recorded until then. False for one that was never heard, and for one that
   * was given up: its journal may come back.
   */
  isAllKnownOf({ producer, untilMs }: Recorded): boolean {
    this.#dropGone();
    const known = this.#known.get(producer);
    if (known === undefined || known.givenUp !== undefined) return false;
    return wordsOf(known).every((word) => word > untilMs);
  }

  #get(producer: number): Known {
    let known = this.#known.get(producer);
    if (known === undefined) {
      known = {
        open: new Map(),
        nexts: new Map(),
        endedBefore: undefined,
        endedMs: 0,
        givenUp: undefined,
        refused: undefined,
      };
      this.#known.set(producer, known);
    }
    return known;
  }

  #giveUp(known: Known, epoch: number, atMs: number): void {
    known.open.delete(epoch);
    known.givenUp = {
      untilMs: Math.max(known.givenUp?.untilMs ?? 0, atMs),
      epoch: Math.max(known.givenUp?.epoch ?? 0, epoch),
    };
  }

  #patienceWith(known: Known, epoch: number): number {
    return known.endedBefore === undefined ? unannouncedMs(known, epoch) : this.#patienceMs;
  }

  #dropGone(): void {
    const newestMs = Math.min(this.#newestMs, this.#nowMs());
    for (const [producer, known] of this.#known) {
      for (const [epoch, saidMs] of known.open) {
        if (newestMs - saidMs <= this.#patienceWith(known, epoch)) continue;
        if (known.endedBefore === undefined) {
          known.open.delete(epoch);
          continue;
        }
        this.#giveUp(known, epoch, newestMs);
        this.#gone.push({ producer, epoch, saidMs });
      }
      if (newestMs - (known.refused?.toMs ?? 0) > GONE_MS) known.refused = undefined;
    }
  }
}

/** Of one that does not say when it ends. */
function unannouncedMs({ open }: Known, epoch: number): number {
  const isSucceeded = [...open.keys()].some((other) => other > epoch);
  return isSucceeded ? SUCCEEDED_MS : GONE_MS;
}

/** Whether a producer that speaks again has left nothing behind: each of its epochs has ended or goes on. */
function hasShippedAll({ givenUp, open, endedBefore = 0 }: Known): boolean {
  if (givenUp === undefined) return false;
  return open.size === 0 ? endedBefore > givenUp.epoch : Math.min(...open.keys()) <= endedBefore;
}

/** How far each sequence of a producer is that may go on. */
function wordsOf({ open, refused }: Known): number[] {
  return refused === undefined ? [...open.values()] : [...open.values(), refused.fromMs];
}
