import assert from "node:assert/strict";
import type { Segment } from "../intake/batch.ts";

/** A click that is not in ClickHouse yet. */
export type UnstoredRow = {
  readonly segment: Segment;
  /** Where the row begins in the bytes of its segment; it ends with a line feed. */
  readonly start: number;
  /** UTC ms. */
  readonly ts: number;
  readonly workspaceId: number;
};

/** Workspace, start and time of each row of a segment, in its order. */
export type RowPlaces = {
  readonly workspaceIds: number[];
  readonly starts: number[];
  readonly times: number[];
};

/** Measured: 366 with a workspace of its own for each row, 115 with one workspace. */
const ROW_BYTES_MAX = 370;
/** Free slots at the head of a queue before it is cut. */
const FREE_SLOTS_MAX = 64;

/**
 * The clicks of a lane that are not in ClickHouse yet, by workspace, so that a list costs what its own workspace has. To add or remove a
 * row costs the same for any number of rows and workspaces. Rows leave in the order in which they came, with their batch. The intake
 * bounds how many there are: {@link BATCH_ROWS_MAX} and {@link WAITING_MAX}.
 */
export class UnstoredRows {
  readonly #rows = new Queue();
  readonly #byWorkspace = new Map<number, Queue>();

  get count(): number {
    return this.#rows.count;
  }

  /** The most memory that the index takes, without the rows' own bytes. */
  get bytesMax(): number {
    return this.#rows.count * ROW_BYTES_MAX;
  }

  /** `places` has every row of the segment. */
  add(segment: Segment, { workspaceIds, starts, times }: RowPlaces): void {
    for (const [index, workspaceId] of workspaceIds.entries()) {
      const row = { segment, start: starts[index] ?? 0, ts: times[index] ?? 0, workspaceId };
      this.#rows.push(row);
      const own = this.#byWorkspace.get(workspaceId);
      if (own === undefined) this.#byWorkspace.set(workspaceId, new Queue(row));
      else own.push(row);
    }
  }

  /** Removes the rows of the oldest segment. */
  remove(segment: Segment): void {
    for (let count = segment.to - segment.from; count > 0; count -= 1) {
      const row = this.#rows.shift();
      assert(row?.segment === segment, "segments leave in the order in which they came");
      const own = this.#byWorkspace.get(row.workspaceId);
      own?.shift();
      if (own?.count === 0) this.#byWorkspace.delete(row.workspaceId);
    }
  }

  /** Oldest first, in the order of the stream. */
  of(workspaceId: number): readonly UnstoredRow[] {
    return this.#byWorkspace.get(workspaceId)?.all() ?? [];
  }
}

/** First in, first out; both cost the same for any number of rows, on average. */
class Queue {
  #rows: (UnstoredRow | undefined)[];
  #head = 0;

  constructor(...rows: UnstoredRow[]) {
    this.#rows = rows;
  }

  get count(): number {
    return this.#rows.length - this.#head;
  }

  push(row: UnstoredRow): void {
    this.#rows.push(row);
  }

  shift(): UnstoredRow | undefined {
    const row = this.#rows[this.#head];
    if (row === undefined) return undefined;
    this.#rows[this.#head] = undefined;
    this.#head += 1;
    if (this.#head > FREE_SLOTS_MAX && this.#head > this.#rows.length / 2) {
      this.#rows = this.#rows.slice(this.#head);
      this.#head = 0;
    }
    return row;
  }

  all(): UnstoredRow[] {
    return this.#rows.slice(this.#head).filter((row) => row !== undefined);
  }
}
