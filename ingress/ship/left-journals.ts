import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { producersIn } from "../journal/producer-folder.ts";
import { hasPixels } from "../pixels/pixel-files.ts";

/** What is in the folder of a producer and not stored by the processors, as far as its files say. */
export type LeftJournal = {
  readonly producer: number;
  readonly segments: number;
  readonly bytes: number;
  readonly hasPixels: boolean;
};

/** One entry for each producer of a machine, also for producers with nothing left. Undefined when there is no journal at all. */
export function leftJournals(journalPath: string): LeftJournal[] | undefined {
  if (!existsSync(journalPath)) return undefined;
  return producersIn(journalPath).map((producer) => {
    const folder = join(journalPath, String(producer));
    const segments = readdirSync(folder).filter((name) => /^\d+-\d+\.wal$/.test(name));
    // A segment that is stored meanwhile has no size any more.
    const sizes = segments.map(
      (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return { producer, segments: segments.length, bytes, hasPixels: hasPixels(folder) };
  });
}

export function isEmpty({ segments, hasPixels: hasSome }: LeftJournal): boolean {
  return segments === 0 && !hasSome;
}

/** For people, such as "2 segments of 12.4 MB". */
export function sizeText(left: readonly LeftJournal[]): string {
  const segments = left.reduce((sum, one) => sum + one.segments, 0);
  const megabytes = left.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  const size = `${segments} ${segments === 1 ? "segment" : "segments"} of ${megabytes.toFixed(1)} MB`;
  return left.some((one) => one.hasPixels) ? `${size}, and kept pixels` : size;
}
