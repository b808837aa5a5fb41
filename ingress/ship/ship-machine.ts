import { pause } from "../../schemas/host/pause.ts";
import { producersIn, tryToTake } from "../journal/producer-folder.ts";
import { isEmpty, type LeftJournal, leftJournals, sizeText } from "./left-journals.ts";
import { type ShipOptions, shipJournal } from "./ship-journal.ts";

/** Each has its own connection to NATS. */
const AT_ONCE_MAX = 8;
const PROGRESS_MS = 5_000;
/** A journal that turns out to belong to another process is shipped under another number, from a folder of its own. */
const PASSES_MAX = 10;

export type MachineOptions = Omit<ShipOptions, "onLost" | "onLink"> & {
  /** Prints a line for the person who waits. */
  readonly say: (line: string) => void;
};

export type MachineResult = {
  readonly journals: number;
  /** Producers whose process runs and ships its journal itself. */
  readonly running: readonly number[];
  /** Journals that still have records. */
  readonly left: readonly LeftJournal[];
  readonly lostRecords: number;
};

/** Ships every journal of a machine whose process is gone, up to eight at once. Ends when nothing is left, or when the signal does. */
export async function shipMachine(options: MachineOptions): Promise<MachineResult> {
  const { journalPath, signal } = options;
  const state = { lostRecords: 0, isConnected: false };
  const running = new Set<number>();
  const ended = new AbortController();
  const progress = printProgress(options, { running, state, signal: ended.signal });
  try {
    const shared: ShipOptions = {
      ...options,
      onLost: (records) => {
        state.lostRecords += records;
      },
      onLink: (isConnected) => {
        state.isConnected = isConnected;
      },
    };
    const done = new Set<number>();
    for (let pass = 0; pass < PASSES_MAX && !signal.aborted; pass += 1) {
      const waiting = producersIn(journalPath).filter((producer) => !done.has(producer));
      if (waiting.length === 0) break;
      await inGroups(waiting, AT_ONCE_MAX, async (producer) => {
        if (!(await shipOne(producer, shared))) running.add(producer);
        if (running.has(producer) || isShipped(journalPath, producer)) done.add(producer);
      });
    }
  } finally {
    ended.abort();
    await progress;
  }
  const all = leftJournals(journalPath) ?? [];
  return {
    journals: all.length,
    running: [...running],
    left: all.filter((one) => !running.has(one.producer) && !isEmpty(one)),
    lostRecords: state.lostRecords,
  };
}

/** False when another process has the journal. */
async function shipOne(producer: number, options: ShipOptions): Promise<boolean> {
  if (options.signal.aborted) return true;
  const folder = await tryToTake(options.journalPath, producer);
  if (folder === undefined) return false;
  try {
    await shipJournal(folder, options);
  } finally {
    await folder.release();
  }
  return true;
}

function isShipped(journalPath: string, producer: number): boolean {
  const journal = leftJournals(journalPath)?.find((one) => one.producer === producer);
  return journal === undefined || isEmpty(journal);
}

/** Runs `work` for each item, at most `size` at once. */
async function inGroups<T>(
  items: readonly T[],
  size: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: size }, worker));
}

async function printProgress(
  { journalPath, say }: MachineOptions,
  {
    running,
    state,
    signal,
  }: {
    readonly running: ReadonlySet<number>;
    readonly state: { readonly isConnected: boolean };
    readonly signal: AbortSignal;
  },
): Promise<void> {
  let said = "";
  while (!signal.aborted) {
    const left = (leftJournals(journalPath) ?? []).filter(
      (one) => !running.has(one.producer) && !isEmpty(one),
    );
    const where = state.isConnected ? "" : " (no connection to NATS)";
    const line = `${left.length} ${left.length === 1 ? "journal" : "journals"} left: ${sizeText(left)}${where}`;
    if (line !== said) say(line);
    said = line;
    await pause(PROGRESS_MS, signal);
  }
}
