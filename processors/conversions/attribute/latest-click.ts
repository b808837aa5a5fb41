import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { orderInMillisecond } from "../../../schemas/ids/click-id.ts";

/** The first click in the order of G113; undefined without clicks. */
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

/** Ranks by offer alone: the named offer, any other offer, no offer. */
export function rankOf(click: Pick<ClickRecord, "offer_id">, offerId: number): number {
  if (offerId !== 0 && click.offer_id === offerId) return 2;
  return click.offer_id === 0 ? 0 : 1;
}
