import { z } from "zod";
import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { IMPRESSION_LANE } from "../../schemas/events/lanes.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { LocalClickState } from "../decide/click-state.ts";
import type { JournalRecord } from "../journal/frame.ts";
import { endedSegmentPaths, readSegment } from "../journal/segment-files.ts";
import { type KeptState, readKeptState } from "./kept-state.ts";

export type RecallOptions = {
  /** The journal folder, and the file of the `StateKeeper` in it. */
  readonly folder: string;
  readonly path: string;
  /** Epoch of this process: epochs before it have ended. */
  readonly epoch: number;
  readonly state: LocalClickState;
  readonly catalog: Catalog;
  readonly log: Log;
};

/** Newest segments that are read. They suffice, because the file is about half a second old. */
const SEGMENTS_MAX = 4;

const Taken = z.object({
  ts: z.int(),
  status: z.literal("redirect"),
  status_reason: z.string().default(""),
  offer_id: z.int().positive(),
  affiliate_id: z.int().default(0),
  visitor: z.int().default(0),
  is_bot: z.boolean().default(false),
  device_type: z.string().default(""),
});

/**
 * Restores the state of the process before this one: what it saved, and the clicks that it journaled since, shipped or not. A cap
 * that was full before a kill -9 is then full for the first click after it. Returns the number of clicks counted from the journal.
 */
export async function recallState(options: RecallOptions): Promise<number> {
  const { path, state, log } = options;
  const kept = await readKeptState(path, log);
  if (kept !== undefined) state.recall(kept);
  try {
    const counted = await countJournaled(options, kept);
    log.info({ totals: kept?.totals.length ?? 0, counted }, "notices.recalled");
    return counted;
  } catch (error) {
    // The journal is still shipped, and its clicks count when the writers report them.
    log.warn({ err: error }, "notices.journal-not-recalled");
    return 0;
  }
}

async function countJournaled(
  options: RecallOptions,
  kept: KeptState | undefined,
): Promise<number> {
  const segments = await endedSegmentPaths(options.folder, options.epoch);
  let counted = 0;
  for (const { path, epoch } of segments.slice(-SEGMENTS_MAX)) {
    if (epoch < (kept?.epoch ?? 0)) continue;
    const { records } = await readSegment(path);
    for (const record of records) {
      if (!isKept(record, epoch, kept)) counted += countClick(options, record);
    }
  }
  return counted;
}

function isKept(
  { lane, position }: JournalRecord,
  epoch: number,
  kept: KeptState | undefined,
): boolean {
  return epoch === kept?.epoch && position < (kept.positions[lane] ?? 0);
}

/** Counts by the rule of ingress: the visitor was redirected, and not as a duplicate. */
function countClick({ state, catalog }: RecallOptions, { lane, line }: JournalRecord): number {
  if (lane === IMPRESSION_LANE) return 0;
  const click = Taken.safeParse(JSON.parse(line));
  if (!click.success || click.data.status_reason === "duplicate") return 0;
  const {
    offer_id,
    affiliate_id: affiliateId,
    visitor,
    ts: atMs,
    is_bot,
    device_type,
  } = click.data;
  const isUnseen = is_bot && device_type !== "bot";
  const offer = catalog.offers.get(offer_id);
  if (offer === undefined) return 0;
  const timezone = catalog.workspaces.get(offer.workspace_id)?.timezone ?? "UTC";
  state.taken(offer, timezone, { affiliateId, visitor, atMs, isUnseen });
  return 1;
}
