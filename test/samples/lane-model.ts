import fc from "fast-check";
import type { Segment } from "../../processors/clicks/rows/batch.ts";
import {
  type Intent,
  intentOf,
  isPartOf,
  storedShare,
} from "../../processors/clicks/rows/intent.ts";
import { PositionSet } from "../../processors/clicks/rows/position-set.ts";
import { REPLICAS, type Row, type Sent, type StoreModel } from "./store-models.ts";

/**
 * The protocol of the intents against models of ClickHouse: writers that die, time out and take over, inserts that arrive at any time, a
 * stream that loses rows. What the writers decide, they decide with the functions of the product.
 */

const PRODUCERS = [1, 2] as const;
const POSITIONS = 8;
const STEPS_MAX = 500;

const ALL_ROWS: readonly Row[] = PRODUCERS.flatMap((producer) =>
  Array.from({ length: POSITIONS }, (_, position): Row => `${producer}.${position}`),
);

function segmentOf(row: Row): Segment {
  const [producer = 0, from = 0] = row.split(".").map(Number);
  const at = { producer, epoch: 1, from, to: from + 1, month: from < 5 ? 202_601 : 202_602 };
  const times = { fromMs: 0, toMs: 0, readAtMs: 0 };
  return { ...at, ...times, bytes: Buffer.alloc(0), adClicks: [], isStored: false };
}

/** A kind of {@link LaneModel.step}, and a number that decides what exactly happens. */
export type Step = readonly [kind: number, choice: number];

type Rules = {
  /** Whether an insert that is not in the table is settled. */
  readonly settles: boolean;
  /** Whether an insert that is in the table is confirmed under its token, before its rows are acknowledged. */
  readonly confirms: boolean;
};

/** A writer, between two of its statements. */
type Writer = {
  epoch: number;
  home: number;
  intent: Intent | undefined;
  decided: string | undefined;
  undecided: Intent | undefined;
  /** Rows of the first producer, once the opening has read them. */
  firstHalf: readonly Row[] | undefined;
  isOpen: boolean;
  settled: Set<Row>;
  memory: Set<Row>;
  sent: (Sent & { readonly isSettling: boolean }) | undefined;
};

class LaneModel {
  readonly #store: StoreModel;
  readonly #rules: Rules;
  readonly #postgres: { epoch: number; intent: Intent | undefined } = {
    epoch: 0,
    intent: undefined,
  };
  /** Rows that the stream has now. */
  readonly #stream = new Set<Row>(ALL_ROWS);
  readonly #acknowledged = new Set<Row>();
  /** Inserts that were sent and have not reached ClickHouse. */
  readonly #onTheirWay = new Set<Sent>();
  #writers: Writer[] = [];

  constructor(store: StoreModel, rules: Rules) {
    this.#store = store;
    this.#rules = rules;
  }

  /** Does one thing that can happen now. */
  step(kind: number, choice: number): void {
    const writer = this.#writers[choice % Math.max(1, this.#writers.length)];
    const sent = [...this.#onTheirWay][choice % Math.max(1, this.#onTheirWay.size)];
    if (kind === 0) this.#take(choice);
    else if (kind === 1 && sent !== undefined) this.#execute(sent);
    else if (kind === 2) this.#loseOrResend(choice);
    else if (kind === 3) this.#store.happen(choice);
    else if (writer !== undefined) this.#act(writer, kind, choice);
  }

  /** Everything comes to an end: a last writer stores what is missing, and then all inserts that are still on their way arrive. */
  finish(): void {
    this.#store.heal();
    for (const row of ALL_ROWS) if (!this.#acknowledged.has(row)) this.#stream.add(row);
    this.#writers = [];
    this.#take(0);
    const [last] = this.#writers;
    for (let step = 0; last !== undefined && step < STEPS_MAX; step += 1) {
      if (this.#acknowledged.size === ALL_ROWS.length && last.sent === undefined) break;
      this.#act(last, 5 + (step % 2), step);
      this.#store.heal();
    }
    for (const sent of this.#onTheirWay) this.#execute(sent);
    this.#store.heal();
  }

  get stored(): Row[] {
    return (this.#store.read(0) ?? []).toSorted();
  }

  get isEachAcknowledgedStored(): boolean {
    const stored = new Set(this.stored);
    return [...this.#acknowledged].every((row) => stored.has(row));
  }

  #take(choice: number): void {
    this.#postgres.epoch += 1;
    this.#writers.push({
      epoch: this.#postgres.epoch,
      home: choice % REPLICAS,
      intent: this.#postgres.intent,
      decided: undefined,
      undecided: undefined,
      firstHalf: undefined,
      isOpen: false,
      settled: new Set(),
      memory: new Set(),
      sent: undefined,
    });
  }

  #loseOrResend(choice: number): void {
    const row = ALL_ROWS[choice % ALL_ROWS.length];
    if (row === undefined || this.#acknowledged.has(row)) return;
    if (!this.#stream.delete(row)) this.#stream.add(row);
  }

  #act(writer: Writer, kind: number, choice: number): void {
    if (kind === 8) this.#end(writer);
    else if (kind === 9) this.#timeOut(writer, choice);
    else if (writer.sent !== undefined) this.#answer(writer);
    else if (!writer.isOpen) this.#open(writer);
    else if (kind === 5) this.#read(writer, choice);
    else this.#write(writer, choice);
  }

  #end(writer: Writer): void {
    this.#writers = this.#writers.filter((one) => one !== writer);
  }

  /** The outcome of its statement is unknown: it raises its epoch, unless another writer has the lane. */
  #timeOut(writer: Writer, choice: number): void {
    if (this.#postgres.epoch !== writer.epoch) {
      this.#end(writer);
      return;
    }
    this.#postgres.epoch += 1;
    Object.assign(writer, {
      epoch: this.#postgres.epoch,
      intent: this.#postgres.intent,
      home: choice % REPLICAS,
      isOpen: false,
      firstHalf: undefined,
      sent: undefined,
    });
  }

  /** Reads the positions of one producer after the other's: inserts may arrive in between. */
  #open(writer: Writer): void {
    const rows = this.#store.read(writer.home);
    if (rows === undefined) return;
    if (writer.firstHalf === undefined) {
      writer.firstHalf = rows.filter((row) => row.startsWith("1."));
      return;
    }
    const seen = [...writer.firstHalf, ...rows.filter((row) => row.startsWith("2."))];
    writer.firstHalf = undefined;
    if (!this.#isSure(writer, seen)) return;
    writer.settled = new Set(seen);
    writer.isOpen = true;
    for (const row of seen) {
      writer.memory.delete(row);
      // What is stored is acknowledged, also if another writer has stored it.
      this.#acknowledge(row);
    }
  }

  /** Whether the rows that were seen may count as stored. If not, the positions must be read again. */
  #isSure(writer: Writer, seen: readonly Row[]): boolean {
    const { intent, decided } = writer;
    writer.undecided = undefined;
    if (intent === undefined || intent.token === decided) return true;
    const share = shareOf(intent, seen);
    if (share === "none") {
      if (this.#rules.settles) writer.undecided = intent;
      return true;
    }
    if (this.#rules.confirms) {
      this.#send(writer, { intent, rows: [], isSettling: true });
      return false;
    }
    // Some of its rows may have been committed between the two halves.
    if (share === "some") writer.decided = intent.token;
    return share === "all";
  }

  #read(writer: Writer, choice: number): void {
    const fresh = [...this.#stream].filter((row) => !writer.settled.has(row));
    const from = choice % Math.max(1, fresh.length);
    for (const row of fresh.slice(from, from + 3)) writer.memory.add(row);
  }

  #write(writer: Writer, choice: number): void {
    const { undecided } = writer;
    const segments = [...writer.memory].map((row) => segmentOf(row));
    if (undecided !== undefined) {
      const own = segments.filter((segment) => isPartOf(undecided, segment));
      this.#send(writer, { intent: undecided, rows: own.map(rowOf), isSettling: true });
      return;
    }
    const [first] = segments;
    if (first === undefined || this.#postgres.epoch !== writer.epoch) return;
    const part = segments.filter(({ month }) => month === first.month).slice(0, 1 + (choice % 6));
    const intent = intentOf(part, { after: writer.intent, table: "click", home: null });
    this.#postgres.intent = intent;
    writer.intent = intent;
    this.#send(writer, { intent, rows: part.map(rowOf), isSettling: false });
  }

  #send(writer: Writer, of: { intent: Intent; rows: Row[]; isSettling: boolean }): void {
    const sent = { ...of, replica: writer.home };
    writer.sent = sent;
    this.#onTheirWay.add(sent);
  }

  /** It arrives once, whoever still waits for it. */
  #execute(sent: Sent): void {
    if (this.#onTheirWay.delete(sent)) this.#store.execute(sent);
  }

  /** Its insert is executed, and answered when it is confirmed. */
  #answer(writer: Writer): void {
    const { sent } = writer;
    if (sent === undefined) return;
    if (this.#onTheirWay.has(sent)) {
      this.#execute(sent);
      return;
    }
    if (!this.#store.isConfirmed(sent)) return;
    writer.sent = undefined;
    writer.decided = sent.intent.token;
    if (sent.isSettling) {
      writer.isOpen = false;
      return;
    }
    for (const row of sent.rows) {
      writer.memory.delete(row);
      writer.settled.add(row);
      this.#acknowledge(row);
    }
  }

  #acknowledge(row: Row): void {
    this.#acknowledged.add(row);
    this.#stream.delete(row);
  }
}

function rowOf({ producer, from }: Segment): Row {
  return `${producer}.${from}`;
}

function shareOf(intent: Intent, seen: readonly Row[]): ReturnType<typeof storedShare> {
  return storedShare(intent, (producer) => {
    const settled = new PositionSet();
    for (const row of seen) {
      const segment = segmentOf(row);
      if (segment.producer === producer) settled.add(segment.from, segment.to);
    }
    return { settled, lost: [] };
  });
}

export function outcomeOf(
  store: StoreModel,
  rules: Rules,
  schedule: readonly Step[],
): { stored: Row[]; isEachAcknowledgedStored: boolean } {
  const lane = new LaneModel(store, rules);
  for (const [kind, choice] of schedule) lane.step(kind, choice);
  lane.finish();
  return { stored: lane.stored, isEachAcknowledgedStored: lane.isEachAcknowledgedStored };
}

/** Kinds of {@link LaneModel.step}, as often as they should come. */
const KINDS = [0, 1, 2, 3, 5, 5, 6, 6, 6, 6, 6, 8, 9] as const;
export const schedules = fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat(1_000)), {
  minLength: 1,
  maxLength: 150,
});
export const ONCE = { stored: ALL_ROWS.toSorted(), isEachAcknowledgedStored: true };
