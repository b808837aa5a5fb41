import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { orderInMillisecond } from "../../../schemas/ids/click-id.ts";

/** The order of G113; undefined for no clicks. */
export function latestClick(
  clicks: readonly ClickRecord[],
  offerId: number,
): ClickRecord | undefined {
  return clicks.toSorted(
    (a, b) =>
      rankOf(b, offerId) - rankOf(a, offerId) ||
      b.ts - a.ts ||
      (orderInMillisecond(a.click_id) < orderInMillisecond(b.click_id) ? 1 : -1),
  )[0];
}

/** By the offer alone: the named one, any other, none. */
export function rankOf(click: Pick<ClickRecord, "offer_id">, offerId: number): number {
  if (offerId !== 0 && click.offer_id === offerId) return 2;
  return click.offer_id === 0 ? 0 : 1;
}
