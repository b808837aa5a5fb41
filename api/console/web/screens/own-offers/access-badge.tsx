import type { ReactElement } from "react";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { Offer } from "../offers/offer.ts";

/** Whether the partner may promote an offer, or what was decided about its request. */
export function AccessBadge({ offer }: { readonly offer: Offer }): ReactElement | null {
  const { can_run: canRun = false, access_status: access } = offer;
  if (canRun) return <span className="badge good">Approved</span>;
  return access === undefined || access === null ? null : <StatusBadge status={access} />;
}
