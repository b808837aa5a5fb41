import { useState } from "react";
import { useWrite } from "../member/use-write.ts";

/** A row that stays as it is, and why. */
export type Skipped = { readonly name: string; readonly why: string };

/** What became of a change of many rows. */
export type BulkReport = { readonly changed: number; readonly skipped: readonly Skipped[] };

/** A change of many rows, in as many requests as it takes, one after the other. */
export type Bulk<To> = {
  readonly start: (to: To) => void;
  readonly isSending: boolean;
  /** Rows that have been sent. After a failure, these are done and the others are not. */
  readonly sent: number;
  readonly error: Error | null;
};

export function useBulk<Row, To>({
  rows,
  names,
  size,
  send,
  onDone,
}: {
  readonly rows: readonly Row[];
  /** Lists and records that are read again: see `useWrite`. */
  readonly names: readonly string[];
  /** As many rows as one request may have. */
  readonly size: number;
  /** Sends one part and tells what was skipped. */
  readonly send: (part: readonly Row[], to: To) => Promise<readonly Skipped[]>;
  readonly onDone: (report: BulkReport) => void;
}): Bulk<To> {
  const [sent, setSent] = useState(0);
  const write = useWrite(names, async (to: To) => {
    const skipped: Skipped[] = [];
    setSent(0);
    for (const part of partsOf(rows, size)) {
      skipped.push(...(await send(part, to)));
      setSent((before) => before + part.length);
    }
    onDone({ changed: rows.length - skipped.length, skipped });
  });
  return { start: write.mutate, isSending: write.isPending, sent, error: write.error };
}

/** Rows in their order, in parts of at most so many. */
export function partsOf<Row>(rows: readonly Row[], size: number): readonly (readonly Row[])[] {
  const count = Math.ceil(rows.length / size);
  return Array.from({ length: count }, (_, at) => rows.slice(at * size, (at + 1) * size));
}
