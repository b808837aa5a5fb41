import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { offersNamed } from "../../../schemas/catalog/named-records.ts";
import type { Coupon, Offer } from "../../../schemas/catalog/records.ts";
import type { CouponCredit, Origin } from "../read/resolve-target.ts";
import { type Refusal, refused } from "../report/refusal.ts";
import type { Report } from "../report/report-params.ts";

/** The offer and partner that a coupon code credits at the time of the report (G115), or a refusal with the reason. */
export function resolveCoupon(
  catalog: Catalog,
  code: string,
  report: Pick<Report, "offerCode">,
  origin: Origin & { readonly atMs: number },
): CouponCredit | Refusal {
  const coupon = findCoupon(catalog, code, report, origin);
  if (coupon === undefined) return refused("unknown coupon_code", "coupon_error");
  if (!isActive(coupon, origin.atMs)) return refused("coupon_code not active", "coupon_error");
  const offer = offerOf(catalog, coupon, report);
  if ("kind" in offer) return offer;
  const affiliate = catalog.affiliates.get(coupon.affiliate_id);
  if (affiliate?.workspace_id !== coupon.workspace_id)
    return refused("coupon partner not found", "coupon_error");
  return { kind: "coupon", offer, affiliate };
}

/**
 * A pixel may be about any workspace that its host serves, and two of them may have the same code. The named offer decides; without
 * one, the workspace that has had the host for longest.
 */
function findCoupon(
  catalog: Catalog,
  code: string,
  { offerCode }: Pick<Report, "offerCode">,
  { sender, host }: Origin,
): Coupon | undefined {
  const workspaceIds =
    sender.kind === "pixel" ? catalog.workspaceIdsOfHost(host) : [sender.workspace.id];
  const ofOffer =
    offerCode === undefined
      ? []
      : offersNamed(catalog, workspaceIds, offerCode).map(({ workspace_id }) => workspace_id);
  for (const workspaceId of [...ofOffer, ...workspaceIds]) {
    const coupon = catalog.couponByCode(workspaceId, code);
    if (coupon !== undefined) return coupon;
  }
  return undefined;
}

function isActive({ status, starts_at_ms, ends_at_ms }: Coupon, atMs: number): boolean {
  return (
    status === "active" &&
    (starts_at_ms === null || atMs >= starts_at_ms) &&
    (ends_at_ms === null || atMs < ends_at_ms)
  );
}

function offerOf(
  catalog: Catalog,
  coupon: Coupon,
  { offerCode }: Pick<Report, "offerCode">,
): Offer | Refusal {
  const named =
    offerCode === undefined ? undefined : offersNamed(catalog, [coupon.workspace_id], offerCode)[0];
  if (offerCode !== undefined && named === undefined)
    return refused("unknown offer_id", "unknown_offer");
  if (coupon.offer_id === null) {
    return named ?? refused("offer_id required with coupon_code", "coupon_error");
  }
  const couponOffer = catalog.offers.get(coupon.offer_id);
  return couponOffer === undefined || (named !== undefined && named.id !== couponOffer.id)
    ? refused("coupon_code not valid for this offer", "coupon_error")
    : couponOffer;
}
