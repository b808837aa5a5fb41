import type { ClickBatch } from "../../schemas/events/click-batch.ts";
import type { JournalRecord } from "./frame.ts";
import type { SegmentIndex } from "./journal-segments.ts";
import { readSegment } from "./segment-files.ts";
import { cut, lastTimeOf } from "./ship-lane.ts";

export type Range = {
  readonly epoch: number;
  readonly lane: number;
  readonly from: number;
  readonly to: number;
};

/** The producer number and nonce under which the records of an epoch and lane are shipped. */
export type ShippedAs = { readonly producer: number; readonly nonce: string | undefined };
export type IdentityOf = (range: Pick<Range, "epoch" | "lane">) => ShippedAs;

/**
 * Ships ranges again from the segments that hold them. Records that are in no segment are declared lost, so that the writer
 * stops waiting for them (P7, P11), unless a copy of this journal may still have them. Returns the number of lost records.
 */
export async function reshipRanges(options: {
  readonly identityOf: IdentityOf;
  readonly mayDeclareLost: () => boolean;
  readonly ranges: readonly Range[];
  readonly segments: readonly SegmentIndex[];
  readonly publish: (batch: ClickBatch) => Promise<unknown>;
}): Promise<number> {
  let lost = 0;
  // Neighbouring ranges are often in one segment, which is then read once for all of them.
  let read: { path: string; records: readonly JournalRecord[] } | undefined;
  for (const range of options.ranges) {
    let next = range.from;
    for (const segment of options.segments) {
      if (next >= range.to || !holds(segment, { ...range, from: next })) continue;
      const { path } = segment;
      if (read?.path !== path) read = { path, records: (await readSegment(path)).records };
      const wanted = read.records.filter(
        ({ lane, position }) => lane === range.lane && position >= next && position < range.to,
      );
      for (const run of runsOf(wanted)) {
        lost += await declareLost(options, range, next, run.first);
        await shipRun(options, range, run);
        next = run.first + run.lines.length;
      }
    }
    lost += await declareLost(options, range, next, range.to);
  }
  return lost;
}

/** Records without gaps. */
export type Run = { readonly first: number; readonly lines: string[] };

type Target = {
  readonly identityOf: IdentityOf;
  readonly mayDeclareLost: () => boolean;
  readonly publish: (batch: ClickBatch) => Promise<unknown>;
};

async function shipRun(
  { identityOf, publish }: Target,
  { epoch, lane }: Range,
  run: Run,
): Promise<void> {
  for (let at = 0; at < run.lines.length; ) {
    const lines = cut(run.lines.slice(at));
    await publish({
      ...headOf(identityOf({ epoch, lane })),
      epoch,
      lane,
      first: run.first + at,
      at: lastTimeOf(lines),
      lines,
    });
    at += lines.length;
  }
}

async function declareLost(
  { identityOf, mayDeclareLost, publish }: Target,
  { epoch, lane }: Range,
  from: number,
  to: number,
): Promise<number> {
  if (from >= to || !mayDeclareLost()) return 0;
  const head = headOf(identityOf({ epoch, lane }));
  await publish({ ...head, epoch, lane, first: to, lostFrom: from, at: 0, lines: [] });
  return to - from;
}

function headOf({ producer, nonce }: ShippedAs): { producer: number; nonce?: string } {
  return nonce === undefined ? { producer } : { producer, nonce };
}

function holds(segment: SegmentIndex, { epoch, lane, from, to }: Range): boolean {
  const range = segment.lanes.get(lane);
  return segment.epoch === epoch && range !== undefined && range.first < to && range.next > from;
}

/** Records of one lane, cut where a position is left out. */
export function runsOf(records: readonly JournalRecord[]): Run[] {
  const runs: Run[] = [];
  for (const { position, line } of records) {
    const last = runs.at(-1);
    if (last !== undefined && last.first + last.lines.length === position) last.lines.push(line);
    else runs.push({ first: position, lines: [line] });
  }
  return runs;
}
