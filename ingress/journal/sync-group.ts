import type { SegmentWriter } from "./segment-writer.ts";

type Done = (error: Error | null) => void;

export type SyncEvents = {
  readonly onFault: (error: Error) => void;
  readonly onSynced?: ((seconds: number) => void) | undefined;
};

/** Syncs one segment, one sync at a time. Requests that arrive during a sync share the next one. */
export class SyncGroup {
  readonly #writer: SegmentWriter;
  /** Makes the name of the file durable. Called before each sync until it has succeeded once. */
  readonly #syncFolder: (done: Done) => void;
  readonly #events: SyncEvents;
  #waiting: Done[] = [];
  #isDirty = false;
  #isUnderWay = false;
  #isNameDurable = false;
  #whenClosed: (() => void) | undefined;

  constructor(writer: SegmentWriter, syncFolder: (done: Done) => void, events: SyncEvents) {
    this.#writer = writer;
    this.#syncFolder = syncFolder;
    this.#events = events;
  }

  /** Call it after a record was put into the segment. */
  noteWritten(): void {
    this.#isDirty = true;
  }

  /** Calls `done` when everything put before is on the disk, or with the error. */
  whenSynced(done: Done): void {
    this.#waiting.push(done);
    this.start();
  }

  /** Whether records wait for a sync that has not begun. */
  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** Begins a sync if there is something to sync and none is running. */
  start(): void {
    if (this.#isUnderWay) return;
    if (!this.#isDirty && this.#waiting.length === 0) {
      this.#closeIfAsked();
      return;
    }
    this.#isUnderWay = true;
    this.#isDirty = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    const startedAtMs = performance.now();
    this.#sync((error) => {
      this.#isUnderWay = false;
      if (error === null) this.#events.onSynced?.((performance.now() - startedAtMs) / 1_000);
      else this.#events.onFault(error);
      for (const done of waiting) done(error);
      if (this.#waiting.length > 0 || this.#whenClosed !== undefined) this.start();
    });
  }

  /** Syncs the rest and closes the file. Nothing may be put afterwards. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenClosed = resolve;
      this.start();
    });
  }

  #sync(done: Done): void {
    if (this.#isNameDurable) {
      this.#writer.sync(done);
      return;
    }
    this.#syncFolder((error) => {
      if (error !== null) {
        done(error);
        return;
      }
      this.#isNameDurable = true;
      this.#writer.sync(done);
    });
  }

  #closeIfAsked(): void {
    const closed = this.#whenClosed;
    if (closed === undefined) return;
    this.#whenClosed = undefined;
    this.#writer.close();
    closed();
  }
}
