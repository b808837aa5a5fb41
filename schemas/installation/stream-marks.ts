import { pause } from "../host/pause.ts";
import type { Nats } from "../nats/connect.ts";
import {
  readStreamIdentities,
  type StreamIdentity,
  writeStreamIdentity,
} from "../nats/stream-identity.ts";
import { type Clock, systemClock } from "../time/clock.ts";

/** New ids wait at most this long for JetStream. */
const PATIENCE_MS = 15_000;
/** JetStream itself may take 5 s to report that it is away. */
const ANSWER_MS_MAX = 3_000;
/** A mark is replaced when a sequence has grown by this much: a quarter of the ids that are skipped after a restart. */
const GROWTH_MAX = 2_500;
/** Ids that stay inside of Postgres, and grow with each conversion and request. */
const INNER_SEQUENCE = /_(outbox|log|history)_/;
/** Or after this many beats, about a minute: so a mark shows that both other stores went back by more than that. */
const BEATS_MAX = 12;

/** What JetStream has recorded, or that it does not answer. */
export type StreamMarkRead = {
  /** "given-up": it has not answered for 15 s, so nothing waits for it any longer. */
  readonly is: "known" | "silent" | "given-up";
  /** The newest; undefined for streams without a mark, and while it is not known. */
  readonly mark: StreamIdentity | undefined;
  /** Of each stream that exists and answers. */
  readonly ofStreams: readonly (StreamIdentity | undefined)[];
};

/** For callers without a connection to JetStream. */
export const NO_STREAM_MARK: StreamMarkRead = { is: "given-up", mark: undefined, ofStreams: [] };

/**
 * The mark of Postgres in the metadata of the streams of clicks. It is written at each opening of Postgres, and afterwards once a minute or
 * after many new ids. It survives when Postgres and ClickHouse are both put back to older copies.
 */
export class StreamMarks {
  readonly #nats: () => Nats | undefined;
  readonly #clock: Clock;
  #silentSinceMs: number | undefined;

  /** `nats` returns undefined while there is no connection yet. */
  constructor(nats: () => Nats | undefined, clock: Clock = systemClock) {
    this.#nats = nats;
    this.#clock = clock;
  }

  /** Never rejects. */
  async read(): Promise<StreamMarkRead> {
    try {
      const nats = this.#nats();
      if (nats === undefined) return this.#silence();
      const ofStreams = await withinBound(readStreamIdentities(nats));
      this.#silentSinceMs = undefined;
      return { is: "known", mark: newestOf(ofStreams), ofStreams };
    } catch {
      // Whatever the reason is, the mark is unknown. Code that needs JetStream for its work logs why JetStream does not answer.
      return this.#silence();
    }
  }

  /** @throws while JetStream does not answer. */
  async write(identity: StreamIdentity): Promise<void> {
    const nats = this.#nats();
    if (nats === undefined) throw new Error("there is no connection to NATS");
    await withinBound(writeStreamIdentity(nats, identity));
  }

  #silence(): StreamMarkRead {
    const nowMs = this.#clock.nowMs();
    this.#silentSinceMs ??= nowMs;
    // The clock may have been set back.
    const silentMs = Math.abs(nowMs - this.#silentSinceMs);
    return silentMs < PATIENCE_MS
      ? { is: "silent", mark: undefined, ofStreams: [] }
      : NO_STREAM_MARK;
  }
}

function newestOf(marks: StreamMarkRead["ofStreams"]): StreamIdentity | undefined {
  const known = marks.filter((mark) => mark !== undefined);
  return known.toSorted((a, b) => b.beat - a.beat)[0];
}

/** Whether the mark of a stream is missing, or too old to show what Postgres has done since. */
export function areOutdated({ ofStreams }: StreamMarkRead, now: StreamIdentity): boolean {
  return ofStreams.some((mark) => isOutdated(mark, now));
}

function isOutdated(mark: StreamIdentity | undefined, now: StreamIdentity): boolean {
  if (mark === undefined) return true;
  if (now.beat - mark.beat >= BEATS_MAX) return true;
  return Object.entries(now.sequences).some(
    ([name, last]) =>
      !INNER_SEQUENCE.test(name) && last - (mark.sequences[name] ?? 0) >= GROWTH_MAX,
  );
}

async function withinBound<T>(answer: Promise<T>): Promise<T> {
  const waiting = new AbortController();
  const tooLate = pause(ANSWER_MS_MAX, waiting.signal).then(() => {
    throw new Error(`JetStream did not answer within ${ANSWER_MS_MAX / 1_000} s`);
  });
  // After an answer in time nobody waits for it.
  tooLate.catch(() => undefined);
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    waiting.abort();
  }
}
