import { z } from "zod";

/** The figures that `npm run bench -- capacity` calculates with. The unit is in the name. */
const FIGURE_NAMES = [
  "oneLinkRedirectsPerSecond",
  "manyLinksRedirectsPerSecond",
  "recordBytes",
  "diskBytesPerSecond",
  "ingressUsPerClick",
  "processorsUsPerClick",
  "natsUsPerClick",
  "clickhouseUsPerClick",
  "sustainedClicksPerSecond",
  "clickAgeP50Ms",
  "clickAgeP99Ms",
  "writerRowsPerSecond",
  "insertedRowsPerSecond",
  "largeCatalogRatio",
  "ingressResidentMb",
  "conversionsPerSecond",
  "deliveriesPerSecond",
  "storedBytesPerClick",
  "syncedWriteP50Ms",
  "syncedWriteP99Ms",
  "streamMessageMs",
  "streamMegabyteMs",
  "streamDiskShare",
] as const;
export type FigureName = (typeof FIGURE_NAMES)[number];

/** What a bench measured. */
export type Figures = Readonly<Partial<Record<FigureName, number>>>;

export const Machine = z.object({
  processor: z.string(),
  cores: z.int(),
  node: z.string(),
  /** Release of the kernel; absent where nobody noted it. */
  kernel: z.string().optional(),
});
export type Machine = z.infer<typeof Machine>;

/** One run of one bench. */
export const BenchRun = z.object({
  bench: z.string(),
  machine: Machine,
  /** ISO 8601, UTC; only a day where the time is not known. */
  date: z.string(),
  /** Ends in `-changed` if files differed from the commit. */
  commit: z.string(),
  /**
   * Processes that were running or waiting, one-minute average when the bench began; absent where nobody noted it. After another bench it
   * also counts the other bench, so it says less than `busy`.
   */
  load: z.number().optional(),
  /** Cores that other programs kept busy in the seconds before the bench began. 0 as well where a page says that nothing else ran. */
  busy: z.number().optional(),
  figures: z.partialRecord(z.enum(FIGURE_NAMES), z.number()),
});
export type BenchRun = z.infer<typeof BenchRun>;

/** Whether a figure of one machine holds for the other: the same processor and number of cores. Disks may still differ. */
export function isSameMachine(one: Machine, other: Machine): boolean {
  return one.processor === other.processor && one.cores === other.cores;
}
