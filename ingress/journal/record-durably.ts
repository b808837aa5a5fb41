import type { Pending, RecordPosition } from "./journal.ts";
import type { Shipper } from "./shipper.ts";

/** A visitor waits at most this long while the disk is full (P6). */
const DIRECT_MS = 150;

/**
 * Handles a record that the disk did not accept: it goes to JetStream, and the answer leaves when JetStream has it, or after 150 ms. After
 * 150 ms `unrecorded` is called. The record stays in memory and is shipped when that is possible.
 */
export function recordDurably(
  shipper: Shipper,
  record: RecordPosition,
  unrecorded: () => void,
): Pending {
  return (done) => {
    let isAnswered = false;
    const answer = (): void => {
      if (isAnswered) return;
      isAnswered = true;
      done();
    };
    const timer = setTimeout(() => {
      shipper.noteUnrecorded(record);
      unrecorded();
      answer();
    }, DIRECT_MS);
    void shipper.whenShipped(record).then(() => {
      clearTimeout(timer);
      answer();
    });
  };
}
