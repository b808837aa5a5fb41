import { JOURNALED_MS } from "../../../schemas/click-lookup/journaled.ts";

/** After this time every live producer has sent a message: idle ones send two per second (click-batch.ts). */
const FIRST_MESSAGE_MS = 1_500;
/** A producer that does not announce its end counts as gone after this silence. */
const GONE_MS = 120_000;
/** The same if a later start of the producer is known: within this time it has shipped the leftovers of the earlier one. */
const SUCCEEDED_MS = 30_000;

/** The part of a message that is about its producer and not about its records. */
export type ProducerProgress = {
  readonly producer: number;
  readonly epoch: number;
  readonly at: number;
  /** The position after the records of the message. If the message repeats records, it is lower than a position heard before. */
  readonly next: number;
  readonly endedBefore?: number | undefined;
  /** Number of click lanes among which the records after the message are distributed. */
  readonly lanes?: number | undefined;
  /** The epoch has ended. The number belongs to another process, whose epochs go on. */
  readonly hasEnded?: true | undefined;
  /** The message was read before, so it says nothing new. */
  readonly isRepeat?: boolean | undefined;
};

/** An epoch that may still send records. `lastMessageMs` is the time of its last message, UTC ms. */
export type OpenEpoch = {
  readonly producer: number;
  readonly epoch: number;
  readonly lastMessageMs: number;
};

/** The records of a producer up to a time on its own clock, UTC ms. */
type Recorded = { readonly producer: number; readonly untilMs: number };

/** A producer whose journal counts as lost. */
type GivenUp = {
  /** Its clicks up to this time that are not known count as lost. UTC ms. */
  readonly untilMs: number;
  /** The newest epoch; infinite when that is unknown. */
  readonly epoch: number;
};

type ProducerState = {
  /** Time of the last message of each epoch that may go on. */
  readonly open: Map<number, number>;
  /** For each epoch, the position after its last record. */
  readonly nexts: Map<number, number>;
  /** For each epoch, the number of lanes among which it distributes its next records, as far as it is known. */
  readonly routes: Map<number, number>;
  /** Undefined for a producer that does not announce its end. */
  endedBefore: number | undefined;
  /** The last message of the epochs that have ended. */
  endedMs: number;
  /** Set when the lane no longer waits for the leftovers of an epoch that has not ended. */
  givenUp: GivenUp | undefined;
  /** Times of the first and the last message of another process with this number that was refused. */
  refused: { readonly fromMs: number; readonly toMs: number } | undefined;
};

/**
 * Tracks until when every answered click of a lane is known: the oldest time among the last messages of all producers that have not
 * ended. A producer that is silent and has not announced its end may be cut off, with answered clicks in its journal. So a click that
 * was answered after its last message is never reported as unknown (G162, P15). All times are the producers' own `at` in the stream, so
 * the result is also correct while the lane works off a backlog.
 */
export class Completeness {
  readonly #producers = new Map<number, ProducerState>();
  #firstMs: number | undefined;
  #newestMs = 0;
  readonly #gone: OpenEpoch[] = [];
  readonly #patienceMs: number;
  readonly #nowMs: () => number;

  /**
   * `patienceMs`: how long a producer that announces its end may be silent. `nowMs`: the clock of this process; it bounds times in
   * messages, so that a producer whose clock is days ahead does not make others look gone.
   */
  constructor(options: { readonly patienceMs?: number | undefined; nowMs?: () => number } = {}) {
    this.#patienceMs = options.patienceMs ?? JOURNALED_MS;
    this.#nowMs = options.nowMs ?? (() => Number.POSITIVE_INFINITY);
  }

  /** A message that the producer cut at `at`: all its earlier records in this epoch are known. */
  noteMessage(progress: ProducerProgress): void {
    const { producer, epoch, at, endedBefore, hasEnded, isRepeat } = progress;
    if (isRepeat === true) return;
    this.#firstMs ??= at;
    this.#newestMs = Math.max(this.#newestMs, at);
    const state = this.#get(producer);
    if (endedBefore !== undefined) {
      state.endedBefore = Math.max(state.endedBefore ?? 0, endedBefore);
    }
    const before = state.endedBefore ?? 0;
    if (hasEnded === true || epoch < before) end(state, epoch, at);
    else this.#note(state, progress);
    for (const [other, lastMessageMs] of state.open)
      if (other < before) end(state, other, lastMessageMs);
    if (hasShippedAll(state)) state.givenUp = undefined;
  }

  /** If a producer's clock goes back, so does the time of its last message. A message that only repeats records does not set that time back. */
  #note(state: ProducerState, { epoch, at, next, lanes }: ProducerProgress): void {
    if (lanes !== undefined) state.routes.set(epoch, Math.max(state.routes.get(epoch) ?? 0, lanes));
    const lastMessageMs = state.open.get(epoch) ?? 0;
    const lastNext = state.nexts.get(epoch) ?? 0;
    state.nexts.set(epoch, Math.max(lastNext, next));
    // A declaration of loss has no time.
    const isBack = at > 0 && at < lastMessageMs && next >= lastNext;
    state.open.set(epoch, isBack ? at : Math.max(lastMessageMs, at));
    if (!isBack) return;
    this.#newestMs = Math.max(...[...this.#producers.values()].flatMap(timesOf));
    this.#firstMs = Math.min(this.#firstMs ?? at, at);
  }

  /**
   * A message that was refused because another process has its producer number and epoch. Clicks with this number may be in a journal
   * that returns under another number. So for two minutes no click since then is reported as unknown.
   */
  refused({ producer, at }: Pick<ProducerProgress, "producer" | "at">): void {
    // A declaration of loss has no time.
    if (at === 0) return;
    this.#newestMs = Math.max(this.#newestMs, at);
    const state = this.#get(producer);
    const fromMs = Math.min(at, state.refused?.fromMs ?? at);
    state.refused = { fromMs, toMs: Math.max(at, state.refused?.toMs ?? 0) };
  }

  /** Epochs that an earlier owner of the lane has noted. */
  remember(epochs: readonly OpenEpoch[]): void {
    for (const { producer, epoch, lastMessageMs } of epochs) {
      const state = this.#get(producer);
      state.endedBefore ??= 0;
      if (epoch >= state.endedBefore)
        state.open.set(epoch, Math.max(state.open.get(epoch) ?? 0, lastMessageMs));
    }
  }

  /** An epoch that was given up by command, at `nowMs` (UTC): no more records will come. */
  forget({ producer, epoch }: Pick<OpenEpoch, "producer" | "epoch">, nowMs = this.#newestMs): void {
    const state = this.#producers.get(producer);
    if (state?.open.has(epoch) === true) this.#giveUp(state, epoch, nowMs);
  }

  /** Producers that were given up earlier, and when, UTC ms. */
  rememberGivenUp(all: readonly { readonly producer: number; readonly atMs: number }[]): void {
    for (const { producer, atMs } of all)
      this.#get(producer).givenUp = { untilMs: atMs, epoch: Number.POSITIVE_INFINITY };
  }

  /** Epochs that were given up after a silence since the last call. */
  takeGone(): OpenEpoch[] {
    this.#dropGone();
    return this.#gone.splice(0);
  }

  /** Epochs that have not ended, of producers that announce their end. */
  get open(): OpenEpoch[] {
    this.#dropGone();
    return [...this.#producers].flatMap(([producer, { open, endedBefore }]) =>
      endedBefore === undefined
        ? []
        : [...open].map(([epoch, lastMessageMs]) => ({ producer, epoch, lastMessageMs })),
    );
  }

  /** The most lanes that a producer distributes records among; 0 if none has said so. */
  get lanesHeard(): number {
    return Math.max(
      0,
      ...[...this.#producers.values()].flatMap(({ routes }) => [...routes.values()]),
    );
  }

  /**
   * Whether no producer that has not ended will send a record of this lane that it distributed among fewer lanes than `count`, apart from
   * producers that this lane never heard of or has given up.
   */
  areRoutedTo(count: number): boolean {
    this.#dropGone();
    return [...this.#producers.values()].every(({ open, endedBefore, routes }) =>
      [...open.keys()].every((epoch) => epoch === endedBefore && (routes.get(epoch) ?? 0) >= count),
    );
  }

  /**
   * Until when all clicks are known, UTC ms; 0 while that is unknown. `caughtUpMs` is the present time if everything in the stream was
   * read. It decides the result when all producers have ended, because then no click is in flight.
   */
  completeToMs(caughtUpMs?: number): number {
    this.#dropGone();
    const times = [...this.#producers.values()].flatMap(timesOf);
    if (times.length === 0 && caughtUpMs !== undefined) return caughtUpMs + 1;
    if (this.#firstMs === undefined || this.#newestMs - this.#firstMs < FIRST_MESSAGE_MS) return 0;
    return Math.min(this.#newestMs, ...times);
  }

  /** Until when all clicks of one producer are known (a click id contains its number), UTC ms; 0 for a producer that never sent a message. */
  completeToMsOf(producer: number): number {
    this.#dropGone();
    const state = this.#producers.get(producer);
    if (state === undefined) return 0;
    const times = timesOf(state);
    return times.length === 0
      ? Math.max(state.endedMs, state.givenUp?.untilMs ?? 0)
      : Math.min(...times);
  }

  /** Whether unknown records of this producer up to that time count as lost, because its journal was given up. */
  isGivenUpOf({ producer, untilMs }: Recorded): boolean {
    this.#dropGone();
    const state = this.#producers.get(producer);
    if (state?.givenUp === undefined || state.givenUp.untilMs < untilMs) return false;
    return timesOf(state).every((lastMs) => lastMs > untilMs);
  }

  /**
   * Whether no more records of this producer from before `untilMs` can arrive. False for a producer that never sent a message, and for a
   * producer that was given up: its journal may come back.
   */
  isAllKnownOf({ producer, untilMs }: Recorded): boolean {
    this.#dropGone();
    const state = this.#producers.get(producer);
    if (state === undefined || state.givenUp !== undefined) return false;
    return timesOf(state).every((lastMs) => lastMs > untilMs);
  }

  #get(producer: number): ProducerState {
    let state = this.#producers.get(producer);
    if (state === undefined) {
      state = {
        open: new Map(),
        nexts: new Map(),
        routes: new Map(),
        endedBefore: undefined,
        endedMs: 0,
        givenUp: undefined,
        refused: undefined,
      };
      this.#producers.set(producer, state);
    }
    return state;
  }

  #giveUp(state: ProducerState, epoch: number, atMs: number): void {
    state.open.delete(epoch);
    state.givenUp = {
      untilMs: Math.max(state.givenUp?.untilMs ?? 0, atMs),
      epoch: Math.max(state.givenUp?.epoch ?? 0, epoch),
    };
  }

  #patienceWith(state: ProducerState, epoch: number): number {
    return state.endedBefore === undefined ? unannouncedMs(state, epoch) : this.#patienceMs;
  }

  #dropGone(): void {
    const newestMs = Math.min(this.#newestMs, this.#nowMs());
    for (const [producer, state] of this.#producers) {
      for (const [epoch, lastMessageMs] of state.open) {
        if (newestMs - lastMessageMs <= this.#patienceWith(state, epoch)) continue;
        if (state.endedBefore === undefined) {
          state.open.delete(epoch);
          continue;
        }
        this.#giveUp(state, epoch, newestMs);
        this.#gone.push({ producer, epoch, lastMessageMs });
      }
      if (newestMs - (state.refused?.toMs ?? 0) > GONE_MS) state.refused = undefined;
    }
  }
}

/** Nothing more comes of this epoch. `atMs`: its last message. */
function end(state: ProducerState, epoch: number, atMs: number): void {
  state.open.delete(epoch);
  state.nexts.delete(epoch);
  state.routes.delete(epoch);
  state.endedMs = Math.max(state.endedMs, atMs);
}

/** How long a producer that does not announce its end may be silent. */
function unannouncedMs({ open }: ProducerState, epoch: number): number {
  const isSucceeded = [...open.keys()].some((other) => other > epoch);
  return isSucceeded ? SUCCEEDED_MS : GONE_MS;
}

/** Whether a producer that was given up has returned and shipped its leftovers: each of its epochs has ended or goes on. */
function hasShippedAll({ givenUp, open, endedBefore = 0 }: ProducerState): boolean {
  if (givenUp === undefined) return false;
  return open.size === 0 ? endedBefore > givenUp.epoch : Math.min(...open.keys()) <= endedBefore;
}

/** Times of the last messages of a producer's open epochs, and of the first message that was refused. */
function timesOf({ open, refused }: ProducerState): number[] {
  return refused === undefined ? [...open.values()] : [...open.values(), refused.fromMs];
}
