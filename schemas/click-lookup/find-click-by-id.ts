import { setTimeout as pause } from "node:timers/promises";
import type { ZodType } from "zod";
import { clickIdParts } from "../ids/click-id.ts";
import type { Nats } from "../nats/connect.ts";
import { askWriter, type WriterAnswer } from "./ask-writer.ts";

/** How long a look-up waits for a click that may still be in flight (G162). */
const WAIT_MS = 2_000;
const POLL_MS = 50;

/** `unavailable`: the writer or ClickHouse does not answer, or the writer has not reached the time of the click. Never "unknown" (G162). */
export type FoundClick<Click> =
  | { readonly kind: "found"; readonly click: Click }
  | { readonly kind: "none" }
  | { readonly kind: "unavailable" };

export type ClickByIdSources<Click> = {
  readonly nats: Nats | undefined;
  /** Schema of the rows in the writers' answers. */
  readonly row: ZodType<Click>;
  /** Reads ClickHouse. Undefined if it has no such click, "away" if it does not answer. */
  readonly readStored: () => Promise<Click | undefined | "away">;
  /** Whether a click that is not in ClickHouse does not exist, according to the writer's answer from before ClickHouse was asked. */
  readonly mayConclude: (writer: WriterAnswer<Click> | undefined) => boolean;
};

/**
 * Finds the click with this id. A click is found from the moment it was answered (P12): the writer of its shard has young clicks,
 * ClickHouse the others. Waits up to 2 s for a click that may still be in flight.
 */
export async function findClickById<Click extends { readonly click_id: string }>(
  { nats, row, readStored, mayConclude }: ClickByIdSources<Click>,
  clickId: string,
): Promise<FoundClick<Click>> {
  const { shard } = clickIdParts(clickId);
  const deadlineMs = performance.now() + WAIT_MS;
  let reading: Promise<Click | undefined | "away"> | undefined;
  let isConclusive = false;
  for (;;) {
    const writer = await askWriter(nats, { by: "id", shard, clickId }, row);
    const young = writer?.clicks.findLast((click) => click.click_id === clickId);
    if (young !== undefined) return { kind: "found", click: young };
    // A ClickHouse that hangs must not keep us from asking the writer again: it may have a young click any moment (P12).
    if (reading === undefined) {
      // The writer is asked before ClickHouse: clicks that leave its memory in between are in ClickHouse.
      isConclusive = mayConclude(writer);
      reading = readStored();
      // If the writer finds the click first, this answer is not awaited.
      reading.catch(() => undefined);
    }
    const stored = await Promise.race([reading, pause(POLL_MS, "pending" as const)]);
    if (stored !== "pending") {
      reading = undefined;
      if (stored !== undefined && stored !== "away") return { kind: "found", click: stored };
      if (stored === undefined && isConclusive) return { kind: "none" };
      if (performance.now() < deadlineMs) await pause(POLL_MS);
    }
    if (performance.now() >= deadlineMs) return { kind: "unavailable" };
  }
}
