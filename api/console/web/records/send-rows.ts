import type { Sent, Skipped, Way } from "../parts/decisions.ts";

/** A row that an answer has skipped, by its key. */
export type SkippedRow = Skipped & { readonly key: string };

/** How rows of one kind are decided. */
export type DecisionsOf<Row, To> = {
  /** Such as "conversions". */
  readonly kind: string;
  readonly keyOf: (row: Row) => string;
  /** Some rows in words: one by its name, more by their number. */
  readonly what: (rows: readonly Row[]) => string;
  /** Lists and records that are read again. */
  readonly names: readonly string[];
  /** As many rows as one request may have. */
  readonly size: number;
  /** Finds rows that somebody else has changed since they were shown, before anything is sent. */
  readonly findChanged?: (rows: readonly Row[]) => Promise<readonly SkippedRow[]>;
  /** Sends one part and tells what was skipped. */
  readonly send: (
    part: readonly Row[],
    to: To,
    isLeaving: boolean,
  ) => Promise<readonly SkippedRow[]>;
};

/** Sends rows in as many requests as it takes, one after the other. A row that somebody else has changed is not sent. */
export async function sendRows<Row, To>(
  { keyOf, size, findChanged, send }: DecisionsOf<Row, To>,
  rows: readonly Row[],
  to: To,
  { isLeaving, onSent }: Way,
): Promise<Sent> {
  if (isLeaving) {
    // No answer is waited for, so all parts go out in the same moment.
    const answers = await Promise.all(
      partsOf(rows, size).map(async (part) => await send(part, to, true)),
    );
    return sentOf(rows.map(keyOf), answers.flat());
  }
  const changed = (await findChanged?.(rows)) ?? [];
  const gone = new Set(changed.map(({ key }) => key));
  const fresh = rows.filter((row) => !gone.has(keyOf(row)));
  const skipped = [...changed];
  let sent = 0;
  try {
    for (const part of partsOf(fresh, size)) {
      skipped.push(...(await send(part, to, false)));
      sent += part.length;
      onSent(sent + gone.size);
    }
  } catch (error) {
    const left = fresh.slice(sent).map(keyOf);
    return { ...sentOf(fresh.slice(0, sent).map(keyOf), skipped), left, error };
  }
  return sentOf(fresh.map(keyOf), skipped);
}

function sentOf(keys: readonly string[], skipped: readonly SkippedRow[]): Sent {
  const unchanged = new Set(skipped.map(({ key }) => key));
  return { done: keys.filter((key) => !unchanged.has(key)), skipped, left: [] };
}

/** Rows in their order, in parts of at most so many. */
export function partsOf<Row>(rows: readonly Row[], size: number): readonly (readonly Row[])[] {
  const count = Math.ceil(rows.length / size);
  return Array.from({ length: count }, (_, at) => rows.slice(at * size, (at + 1) * size));
}
