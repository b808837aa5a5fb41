import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { decodeBatchHead } from "../../../schemas/events/click-batch.ts";
import type { Lanes } from "../../../schemas/events/lanes.ts";
import type { Clock } from "../../../schemas/time/clock.ts";
import { ClickCaps } from "../caps/click-caps.ts";
import { ErasedClicks } from "../erasure/erased-clicks.ts";
import { adClickKeys } from "../rows/ad-clicks.ts";
import { type Acknowledgeable, Batch, type LostRange, MonthOf } from "../rows/batch.ts";
import type { LaneShare } from "../rows/lane-share.ts";
import type { LaneTable } from "../rows/lane-table.ts";
import type { Range } from "../rows/position-set.ts";
import { type Clocks, PresentTime } from "../rows/present-time.ts";
import {
  type LineHead,
  mayHaveAdIds,
  mayHaveCoupons,
  readCouponClickId,
  readLine,
  readProducer,
  withoutEarnings,
} from "../rows/read-line.ts";
import { type ForgottenVisits, UniqueClicks } from "../visits/unique-clicks.ts";
import { YoungClicks } from "../young/young-clicks.ts";
import { BatchLines } from "./batch-lines.ts";
import { Completeness } from "./completeness.ts";
import { type Producer, Producers } from "./producers.ts";
import { SegmentBuilder } from "./segment-builder.ts";
import { UndecidedInsert } from "./undecided-insert.ts";

/** What may happen while messages are read. */
export type IntakeEvents = {
  undecodable(error: unknown, bytes: number): void;
  unreadable(record: { producer: number; epoch: number; position: number }): void;
  lost(range: LostRange): void;
  hole(producer: Producer, range: Range): void;
  repeated(records: number): void;
  /** A batch with the producer number and epoch of another start; it is dropped. */
  foreign(producer: Producer, records: number): void;
  /** Visits were forgotten within their window because the memory was full. */
  visitsForgotten(forgotten: ForgottenVisits): void;
  /** A jump that was refused because too many holes are open: the records must be sent again. */
  refused(producer: Producer): void;
};

type Head = ReturnType<typeof decodeBatchHead>["head"] & Pick<Acknowledgeable, "isRepeat">;

export const BATCH_ROWS_MAX = 50_000;
const BATCH_BYTES_MAX = 32 * 1024 * 1024;
/** Full batches that wait. Together with the one being filled, they bound the memory of a lane during an outage. */
const WAITING_MAX = 3;
const HOLES_MAX = 1_000;
const HOUR_MS = 3_600_000;
/** Used until the catalog is loaded, and for clicks of a deleted offer (G87). */
export const UNIQUE_HOURS = 24;
const UNIQUES_MAX = 20_000_000;
const YOUNG_BYTES_MAX = 48 * 1024 * 1024;
const YOUNG_LIMITS = { ageMs: 600_000, segmentsMax: 100_000 };

/**
 * Takes the messages of one lane in the order of the stream: drops repeats, decides uniqueness, and queues rows for ClickHouse. Nothing
 * here waits; `isFull` asks the reader to pause.
 * Invariant: every position that is accepted and not settled has its row, or its lost range, in `batches`.
 */
export class Intake {
  readonly lane: number;
  readonly producers = new Producers();
  readonly completeness: Completeness;
  readonly young: YoungClicks;
  readonly erased = new ErasedClicks();
  readonly undecided = new UndecidedInsert();
  /** Clicks of coupons that a producer must no longer record, in the form of `passedKey` (TRK-037). */
  readonly passedOn = new Set<string>();
  uniques: UniqueClicks;
  /** The offers of the lane, and where their stored clicks are. The lane sets it when it opens. */
  share: LaneShare;
  readonly caps: ClickCaps;
  readonly #table: LaneTable;
  readonly #catalog: Catalog;
  readonly #present: PresentTime;
  readonly #events: IntakeEvents;
  readonly #months = new MonthOf();
  readonly #uniquesMax: number;
  /** The first batch is written next; the last is being filled. */
  #batches: Batch[] = [new Batch()];

  constructor(options: {
    lane: number;
    table: LaneTable;
    catalog: Catalog;
    clock: Clock;
    events: IntakeEvents;
    /** How long a producer may be silent before it is given up; default 48 h. */
    producerPatienceMs?: number;
    uniquesMax?: number | undefined;
    youngBytesMax?: number | undefined;
  }) {
    const { clock, producerPatienceMs: patienceMs } = options;
    this.completeness = new Completeness({ patienceMs, nowMs: () => clock.nowMs() });
    this.#present = new PresentTime(clock);
    this.#uniquesMax = options.uniquesMax ?? UNIQUES_MAX;
    this.young = new YoungClicks({
      ...YOUNG_LIMITS,
      bytesMax: options.youngBytesMax ?? YOUNG_BYTES_MAX,
    });
    this.uniques = this.emptyUniques(UNIQUE_HOURS * HOUR_MS, options.events);
    this.lane = options.lane;
    this.share = { lanes: options.catalog.lanes, sources: [options.lane] };
    this.caps = new ClickCaps(options.lane);
    this.#table = options.table;
    this.#catalog = options.catalog;
    this.#events = options.events;
  }

  get isFull(): boolean {
    return this.#batches.length > WAITING_MAX;
  }

  get rows(): number {
    return this.#batches.reduce((sum, batch) => sum + batch.rows, 0);
  }

  /** The batch to write next. It stays first, and may still be filled, until it is sealed. */
  get first(): Batch {
    return this.#batches[0] ?? this.#last;
  }

  /** Whether `first` is full, so that it should be written at once. */
  get isFirstComplete(): boolean {
    return this.#batches.length > 1;
  }

  /** All batches that were read and are not settled, oldest first. */
  get batches(): readonly Batch[] {
    return this.#batches;
  }

  /** Closes the first batch to new records; the caller now writes it. */
  sealFirst(): Batch {
    const first = this.first;
    if (!this.isFirstComplete) this.#batches.push(new Batch());
    return first;
  }

  /**
   * From now on the lane has only the offers that `lanes` assign to it. Returns the batches that were filled before: when all are settled,
   * everything that was decided about the other offers is stored.
   */
  leaveOffers(lanes: Lanes): readonly Batch[] {
    const filled = this.#batches.filter(({ openedAtMs }) => openedAtMs !== undefined);
    this.share = { ...this.share, lanes };
    if (this.#last.openedAtMs !== undefined) this.#batches.push(new Batch());
    return filled;
  }

  /** Whether records are missing of a producer that may still send them. */
  get hasOpenHoles(): boolean {
    return this.completeness.open.some(({ producer, epoch }) => {
      const { accepted, settled } = this.producers.get(producer, epoch);
      return accepted.holes.length > 0 || settled.holes.length > 0;
    });
  }

  /** Every click answered before this moment is in ClickHouse, UTC ms; 0 while that is unknown. See {@link Completeness.completeToMs}. */
  storedToMs(caughtUpMs: number | undefined): number {
    let storedToMs = this.completeness.completeToMs(caughtUpMs);
    for (const { segments } of this.#batches) {
      for (const { isStored, fromMs } of segments)
        if (!isStored && fromMs < storedToMs) storedToMs = fromMs;
    }
    return storedToMs;
  }

  /** The first batch is settled. */
  dropFirst(monotonicMs: number): void {
    this.#batches.shift();
    if (this.#batches.length === 0) this.#batches.push(new Batch());
    this.young.forget(monotonicMs);
  }

  /** The current times of this process's clock and of the lane's live producers. */
  clocksAt(monotonicMs: number): Clocks {
    return this.#present.at(monotonicMs);
  }

  /** An empty memory of visits for a window of this length. */
  emptyUniques(retentionMs: number, events: IntakeEvents = this.#events): UniqueClicks {
    const onForgotten = (forgotten: ForgottenVisits): void => events.visitsForgotten(forgotten);
    return new UniqueClicks({ entriesMax: this.#uniquesMax, retentionMs, onForgotten });
  }

  /** The longest window of uniqueness of all offers. */
  get uniqueWindowMsMax(): number {
    let hours = UNIQUE_HOURS;
    for (const offer of this.#catalog.offers.values()) {
      hours = Math.max(hours, offer.unique_click_hours);
    }
    return hours * HOUR_MS;
  }

  /** `monotonicMs` is when the message was read, by a clock that never steps. */
  take(bytes: Uint8Array, message: Acknowledgeable, monotonicMs: number): void {
    const filling = this.#last;
    filling.openedAtMs ??= monotonicMs;
    const batch = this.#decode(bytes);
    if (batch !== undefined) {
      const { isRepeat = false } = message;
      this.#takeBatch({ ...batch.head, isRepeat }, batch.lines, monotonicMs);
    }
    filling.lastMessage = message;
    if (filling.rows >= BATCH_ROWS_MAX || filling.bytes >= BATCH_BYTES_MAX) {
      this.#batches.push(new Batch());
    }
  }

  get #last(): Batch {
    const last = this.#batches.at(-1);
    if (last !== undefined) return last;
    const fresh = new Batch();
    this.#batches.push(fresh);
    return fresh;
  }

  #decode(bytes: Uint8Array): { head: Head; lines: BatchLines } | undefined {
    try {
      const { head, linesAt } = decodeBatchHead(bytes);
      return { head, lines: new BatchLines(bytes, linesAt) };
    } catch (error) {
      this.#events.undecodable(error, bytes.length);
      return undefined;
    }
  }

  #takeBatch(batch: Head, lines: BatchLines, monotonicMs: number): void {
    const producer = this.producers.get(batch.producer, batch.epoch);
    producer.isActive = true;
    if (isForeign(producer, batch.nonce)) {
      this.completeness.refused(batch);
      this.#events.foreign(producer, lines.count);
      return;
    }
    this.producers.claim(producer, batch.nonce);
    this.#present.noteClock(batch.producer, batch.at, monotonicMs);
    if (lines.count === 0 && batch.lostFrom === undefined) {
      this.#expect(producer, batch.first);
      this.completeness.noteMessage({ ...batch, next: batch.first });
      return;
    }
    this.uniques.clocks = this.clocksAt(monotonicMs);
    this.#takeRecords(producer, batch, { lines, monotonicMs });
  }

  #takeRecords(
    producer: Producer,
    batch: Head,
    { lines, monotonicMs }: { lines: BatchLines; monotonicMs: number },
  ): void {
    const { accepted } = producer;
    const end = batch.first + lines.count;
    if (accepted.holes.length >= HOLES_MAX && accepted.wouldJump(batch.lostFrom ?? batch.first)) {
      this.#events.refused(producer);
      return;
    }
    if (batch.lostFrom !== undefined) {
      for (const [from, to] of accepted.add(batch.lostFrom, batch.first)) {
        this.#recordLoss(producer, [from, to], "declared");
      }
    }
    const { next } = accepted;
    const isJump = lines.count > 0 && accepted.wouldJump(batch.first);
    let fresh = 0;
    for (const [from, to] of accepted.add(batch.first, end)) {
      fresh += to - from;
      for (const [start, stop] of this.undecided.cut(producer, [from, to])) {
        const piece = { first: batch.first, from: start, to: stop, readAtMs: monotonicMs };
        this.#takeLines(producer, lines, piece);
      }
    }
    if (isJump) this.#events.hole(producer, [next, batch.first]);
    if (fresh < lines.count) this.#events.repeated(lines.count - fresh);
    this.completeness.noteMessage({ ...batch, next: end });
  }

  #takeLines(
    producer: Producer,
    lines: BatchLines,
    { first, from, to, readAtMs }: { first: number; from: number; to: number; readAtMs: number },
  ): void {
    const isClick = this.#table.name === "click";
    const hasAdIds = isClick && mayHaveAdIds(lines.text);
    const hasCoupons = isClick && mayHaveCoupons(lines.text);
    const builder = new SegmentBuilder(producer, {
      readAtMs,
      lineBytes: lines.bytesOf(from - first, to - first),
      rows: to - from,
    });
    for (let position = from; position < to; position += 1) {
      const read = lines.at(position - first);
      const head = this.#readHead(read, { producer, position, hasCoupons });
      if (head === undefined) {
        this.#finish(builder);
        continue;
      }
      const line = this.erased.clean(read, head.ts);
      const month = this.#months.of(head.ts);
      if (!builder.continues(month)) this.#finish(builder);
      const isUnique = isClick ? this.#isUnique(head) : undefined;
      const text = isUnique === false ? withoutEarnings(line) : line;
      if (isClick) this.caps.countClick(head.offerId, head.ts, text);
      builder.add(text, { position, month, ts: head.ts }, isUnique);
      if (hasAdIds) builder.addAdClick(adClickKeys(line), head.offerId);
    }
    this.#finish(builder);
  }

  /**
   * Whether another ingress has recorded this click of a coupon because the journal of `producer` could not be read: then the click is in
   * the table or on its way there. `passedOn` contains the click after some seconds; until then it is found among the young clicks.
   */
  #isRecordedElsewhere({ producer }: Producer, line: string): boolean {
    const clickId = readCouponClickId(line);
    if (clickId === undefined) return false;
    if (this.passedOn.has(passedKey(clickId, producer))) return true;
    const known = this.young.byId(clickId);
    return known !== undefined && readProducer(known) !== producer;
  }

  /**
   * A message without records. JetStream has acknowledged everything before `end`, so records that are missing here were lost in the
   * stream.
   */
  #expect(producer: Producer, end: number): void {
    const { accepted, producer: number, epoch } = producer;
    if (accepted.holes.length >= HOLES_MAX) return;
    const hole = accepted.expect(end);
    if (hole === undefined) return;
    this.#last.expected.push({ producer: number, epoch, end });
    this.#events.hole(producer, hole);
  }

  #finish(builder: SegmentBuilder): void {
    const segment = builder.finish();
    if (segment === undefined) return;
    this.#last.add(segment);
    if (this.#table.name === "click") this.young.add(segment);
  }

  #isUnique(head: LineHead): boolean {
    if (!head.mayBeUnique) return false;
    // The lane has left the offer of this late click. Another lane may count the visit as unique, so this lane must not.
    if (this.share.lanes.ofOffer(head.offerId) !== this.lane) return false;
    const hours = this.#catalog.offers.get(head.offerId)?.unique_click_hours ?? UNIQUE_HOURS;
    return this.uniques.take(head, head.ts, hours * HOUR_MS);
  }

  /** Undefined for a line that becomes no row; the loss is noted. */
  #readHead(
    line: string,
    of: { readonly producer: Producer; readonly position: number; readonly hasCoupons: boolean },
  ): LineHead | undefined {
    const { producer, position } = of;
    const range: Range = [position, position + 1];
    if (of.hasCoupons && this.#isRecordedElsewhere(producer, line)) {
      this.#recordLoss(producer, range, "passed on");
      return undefined;
    }
    const head = readLine(line);
    if (head === undefined) {
      this.#events.unreadable({ producer: producer.producer, epoch: producer.epoch, position });
      this.#recordLoss(producer, range, "unreadable");
    }
    return head;
  }

  #recordLoss({ producer, epoch }: Producer, [from, to]: Range, reason: LostRange["reason"]): void {
    const range: LostRange = { producer, epoch, from, to, reason };
    this.#last.lost.push(range);
    this.#events.lost(range);
  }
}

export function passedKey(clickId: string, producer: number): string {
  return `${clickId} ${producer}`;
}

/** Whether two starts have this producer number and epoch, and the batch comes from the later one. */
function isForeign(producer: Producer, nonce: string | undefined): boolean {
  // A release without nonces may ship leftovers of a release with nonces.
  return nonce !== undefined && producer.nonce !== undefined && producer.nonce !== nonce;
}
