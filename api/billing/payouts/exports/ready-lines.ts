import { conflict } from "../../../operation/errors.ts";
import type { PaymentDetails } from "../details/payment-details.ts";
import { fitsFormat, type PayoutFormat } from "../details/payout-formats.ts";
import type { PaidLine } from "./paid-lines.ts";

/** A line whose details are known and fit the file. */
export type ReadyLine = Omit<PaidLine, "details"> & { readonly details: PaymentDetails };

const NAMED_MAX = 5;

/**
 * Lines for a file of this format. A file without some lines of its run would leave partners unpaid without a word, so there is none.
 * @throws {ApiError} `conflict` that names lines that cannot be in it.
 */
export function readyLines(lines: readonly PaidLine[], format: PayoutFormat): ReadyLine[] {
  const ready: ReadyLine[] = [];
  const unfit: string[] = [];
  for (const line of lines) {
    const { details } = line;
    if (details === undefined || !fitsFormat(format, line.method, details, line.currency))
      unfit.push(line.reference);
    else ready.push({ ...line, details });
  }
  if (unfit.length === 0) return ready;
  const named = unfit.slice(0, NAMED_MAX).join(", ");
  const more = unfit.length > NAMED_MAX ? ` and ${unfit.length - NAMED_MAX} more` : "";
  throw conflict(
    "format",
    `${named}${more} cannot be in a file of this format: choose csv, or cancel the run and make one for each method`,
  );
}
