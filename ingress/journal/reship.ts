import type { ClickBatch } from "../../schemas/events/click-batch.ts";
import type { JournalRecord } from "./frame.ts";
import type { SegmentIndex } from "./journal.ts";
import { readSegment } from "./segment-files.ts";
import { cut, lastTimeOf } from "./ship-lane.ts";

export type Range = {
  readonly epoch: number;
  readonly lane: number;
  readonly from: number;
  readonly to: number;
};

/**
 * Ships ranges again, from the segments that hold them. What no segment holds any more is declared lost, so that the writer
 * stops waiting for it (P7, P11); answers how many records that were.
 */
export async function reshipRanges(options: {
  readonly producer: number;
  readonly ranges: readonly Range[];
  readonly segments: readonly SegmentIndex[];
  readonly publish: (batch: ClickBatch) => Promise<void>;
}): Promise<number> {
  let lost = 0;
  // Neighbouring ranges lie in one segment: it is read once for all of them.
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

type Run = { readonly first: number; readonly lines: string[] };

type Target = {
  readonly producer: number;
  readonly publish: (batch: ClickBatch) => Promise<void>;
};

async function shipRun(
  { producer, publish }: Target,
  { epoch, lane }: Range,
  run: Run,
): Promise<void> {
  for (let at = 0; at < run.lines.length; ) {
    const lines = cut(run.lines.slice(at));
    await publish({
      producer,
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
  { producer, publish }: Target,
  { epoch, lane }: Range,
  from: number,
  to: number,
): Promise<number> {
  if (from >= to) return 0;
  await publish({ producer, epoch, lane, first: to, lostFrom: from, at: 0, lines: [] });
  return to - from;
}

function holds(segment: SegmentIndex, { epoch, lane, from, to }: Range): boolean {
  const range = segment.lanes.get(lane);
  return segment.epoch === epoch && range !== undefined && range.first < to && range.next > from;
}

/** Records of one lane, cut where a position is left out. */
function runsOf(records: readonly JournalRecord[]): Run[] {
  const runs: Run[] = [];
  for (const { position, line } of records) {
    const last = runs.at(-1);
    if (last !== undefined && last.first + last.lines.length === position) last.lines.push(line);
    else runs.push({ first: position, lines: [line] });
  }
  return runs;
}
