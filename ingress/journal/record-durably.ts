import type { Pending, Place } from "./journal.ts";
import type { Shipper } from "./shipper.ts";

/** A visitor waits no longer for a disk that is full (P6). */
const DIRECT_MS = 150;

/**
 * The way of a record that the disk did not take: to JetStream, and the answer leaves when it is there or after 150 ms. What
 * neither has by then is told by `unrecorded`; it stays in memory and goes out when it can.
 */
export function recordDurably(shipper: Shipper, place: Place, unrecorded: () => void): Pending {
  return (done) => {
    let isAnswered = false;
    const answer = (): void => {
      if (isAnswered) return;
      isAnswered = true;
      done();
    };
    const timer = setTimeout(() => {
      shipper.noteUnrecorded(place);
      unrecorded();
      answer();
    }, DIRECT_MS);
    void shipper.whenShipped(place).then(() => {
      clearTimeout(timer);
      answer();
    });
  };
}
