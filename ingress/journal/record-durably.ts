import type { JournalRecord } from "./frame.ts";
import type { Shipper } from "./shipper.ts";

/** A visitor waits no longer for a disk that is full (P6). */
const DIRECT_MS = 150;

/**
 * The way of records that the disk did not take: to JetStream, and the answer leaves when they are there or after 150 ms. What
 * neither has by then is counted; it stays in memory and goes out when it can.
 */
export function recordDurably(
  shipper: Shipper,
  records: readonly JournalRecord[],
  {
    done,
    unrecorded,
  }: { readonly done: () => void; readonly unrecorded: (records: number) => void },
): void {
  let isAnswered = false;
  const timer = setTimeout(() => {
    isAnswered = true;
    unrecorded(records.length);
    done();
  }, DIRECT_MS);
  shipper.take(records);
  void shipper.whenShipped(records).then(() => {
    if (isAnswered) {
      unrecorded(-records.length);
      return;
    }
    clearTimeout(timer);
    done();
  });
}
