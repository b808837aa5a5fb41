/** The records that the replay's traffic uses. The replay made them itself, in the terms of the contract. */
export type World = {
  /** Made for this run, so it has no earlier clicks. */
  readonly isFresh: boolean;
  /** Host header of every request to the tracking domain; "" for the host of its address. */
  readonly host: string;
  readonly postbackToken: string;
  /** Where refused visitors go if their offer has no fallback. */
  readonly fallbackUrl: string;
  readonly offers: readonly WorldOffer[];
  readonly partners: readonly WorldPartner[];
  readonly smartLinks: readonly WorldSmartLink[];
  /** Oldest first, in the order in which they are checked. */
  readonly controls: readonly WorldControl[];
  /** Custom keys of `/c/`. */
  readonly linkKeys: readonly WorldLinkKey[];
};

export type WorldPartner = { readonly id: number; readonly code: string };

export type WorldOffer = {
  readonly id: number;
  readonly code: string;
  readonly currency: string;
  readonly payout_type: "cpa" | "cps" | "cpc";
  readonly payout: string;
  readonly revenue_type: "rpa" | "rps" | "rpc";
  readonly revenue: string;
  readonly destination_url: string;
  /** "" if it has none of its own. */
  readonly fallback_url: string;
  readonly rules: OfferRules;
};

/** Every rule that may refuse a click. A missing rule refuses none. */
export type OfferRules = {
  /** Paused, or outside its schedule during the whole run. */
  readonly isClosed?: boolean;
  /** Partners that may run it. */
  readonly approvedIds?: readonly number[];
  readonly targeting?: Targeting;
  readonly caps?: {
    readonly clicks?: { readonly daily?: number; readonly total?: number };
    readonly conversions?: { readonly daily?: number; readonly total?: number };
    readonly alert_only?: boolean;
  };
  readonly duplicateSeconds?: number;
  readonly failRouteId?: number;
};

export type Targeting = {
  readonly countries_allow?: readonly string[];
  readonly countries_deny?: readonly string[];
  readonly devices_allow?: readonly string[];
  readonly devices_deny?: readonly string[];
  readonly os_allow?: readonly string[];
  readonly os_deny?: readonly string[];
  readonly browsers_allow?: readonly string[];
  readonly browsers_deny?: readonly string[];
};

export type WorldSmartLink = {
  readonly id: number;
  readonly code: string;
  readonly mode: "weighted" | "waterfall";
  readonly isPaused: boolean;
  readonly rules: readonly {
    readonly conditions: Targeting;
    readonly offers: readonly { readonly id: number; readonly weight: number }[];
  }[];
};

export type WorldControl = {
  readonly offerIds: readonly number[];
  readonly countries?: readonly string[];
  readonly userAgentContains?: readonly string[];
  /** First two bytes of IPv4 addresses: "66.249" for 66.249.0.0/16. */
  readonly network?: string;
  readonly sub4?: string;
  /** Undefined: the click is blocked. */
  readonly forwardToId?: number;
};

export type WorldLinkKey = {
  readonly key: string;
  readonly offerId: number;
  readonly partnerId: number;
};

/** The workspace's time zone. It has no daylight saving time, so days of caps always begin at 18:30 UTC. */
export const WORLD_TIMEZONE = "Asia/Kolkata";
export const WORLD_OFFSET_MS = 5.5 * 3_600_000;

export function offerOf(world: World, id: number): WorldOffer {
  const offer = world.offers.find((one) => one.id === id);
  if (offer === undefined) throw new Error(`the replay has no offer ${id}`);
  return offer;
}
