import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { offersNamed } from "../../../schemas/catalog/named-records.ts";
import { ALIASES } from "../../../schemas/events/report-aliases.ts";

/** What a call was about, for the advertiser's own view of the inbound log. */
export type CallSubject = {
  readonly advertiser_id: number | null;
  readonly offer_id: number | null;
  readonly event_id: number | null;
};

type Call = {
  readonly workspaceId: number | null;
  readonly params: Readonly<Record<string, string>>;
  /** Advertiser of the token. */
  readonly advertiserId: number | undefined;
  /** Known from the click or the conversion. */
  readonly offerId: number | undefined;
  readonly eventCode: string | undefined;
};

/**
 * The token's advertiser, else the advertiser of the offer. An offer of another advertiser than the token's is left out, because the
 * caller may name any.
 */
export function callSubject(catalog: Catalog, call: Call): CallSubject {
  const offer = catalog.offers.get(call.offerId ?? 0) ?? offerNamed(catalog, call);
  const advertiserId = call.advertiserId ?? offer?.advertiser_id ?? null;
  if (offer === undefined || offer.advertiser_id !== advertiserId) {
    return { advertiser_id: advertiserId, offer_id: null, event_id: null };
  }
  const code = call.eventCode ?? valueOf(call.params, ["event"]) ?? "default";
  const event_id = catalog.eventOf(offer.id, code)?.id ?? null;
  return { advertiser_id: advertiserId, offer_id: offer.id, event_id };
}

function offerNamed(catalog: Catalog, { workspaceId, params }: Call) {
  const code = valueOf(params, ALIASES.offer);
  return code === undefined || workspaceId === null
    ? undefined
    : offersNamed(catalog, [workspaceId], code)[0];
}

function valueOf(params: Call["params"], names: readonly string[]): string | undefined {
  return names
    .map((name) => params[name]?.trim())
    .find((value) => value !== undefined && value !== "");
}
