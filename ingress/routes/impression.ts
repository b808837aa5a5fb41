import type { ImpressionRecord } from "../../schemas/events/click-record.ts";
import { IMPRESSION_LANE } from "../../schemas/events/lanes.ts";
import { NO_STORE } from "../answers.ts";
import { findOfferLink, linkScopeOf, type OfferLink } from "../decide/find-link.ts";
import { encodeRecord } from "../encode-record.ts";
import { decodePercent } from "../request/decode.ts";
import {
  type ClickParameters,
  IMPRESSION_PARAMETERS,
  ParameterReader,
} from "../request/parameters.ts";
import { straightened } from "../request/pasted-link.ts";
import { readVisit, type Visit } from "../request/visit.ts";
import type { Answer, RawRequest, Route } from "../route.ts";
import type { ClickDeps } from "./click-deps.ts";

/** A transparent GIF of one pixel. */
export const PIXEL: Uint8Array = Buffer.from(
  "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
  "base64",
);

const ANSWER: Answer = {
  status: 200,
  headers: [["Content-Type", "image/gif"], NO_STORE],
  body: PIXEL,
};

/** `GET /i/{offer}/{affiliate}`: always the GIF, and a record for a pair that exists (G157). */
export function impressionRoute(deps: ClickDeps): Route {
  return (request) => {
    const { catalog } = deps;
    if (!catalog.isLoaded) return { answer: ANSWER };
    const visit = readVisit(request, deps, catalog.secret);
    const scope = linkScopeOf(catalog, visit.domain);
    const sent = findByPath(scope, request);
    // As for clicks, a link that is not found as sent is looked up as it was before it was copied (G241).
    const straight = sent === undefined ? straightened(request) : undefined;
    const link = straight === undefined ? sent : findByPath(scope, straight);
    if (link === undefined) {
      deps.noteUnknownLink?.(request, ANSWER.status);
      return { answer: ANSWER };
    }
    const { query } = straight ?? request;
    const parameters = new ParameterReader(IMPRESSION_PARAMETERS).addQuery(query).read();
    const record = impressionRecord(link, visit, parameters, deps.clock.nowMs());
    const line = encodeRecord(record);
    return { answer: ANSWER, recorded: { lane: IMPRESSION_LANE, line } };
  };
}

function findByPath(
  scope: ReturnType<typeof linkScopeOf>,
  { path }: Pick<RawRequest, "path">,
): OfferLink | undefined {
  const [, , offer = "", affiliate = ""] = path.split("/").map(decodePercent);
  return findOfferLink(scope, offer, affiliate);
}

function impressionRecord(
  { workspace, offer, affiliate }: OfferLink,
  visit: Visit,
  { values }: ClickParameters,
  atMs: number,
): ImpressionRecord {
  const { geo, device } = visit;
  return {
    ts: atMs,
    workspace_id: workspace.id,
    offer_id: offer.id,
    advertiser_id: offer.advertiser_id,
    affiliate_id: affiliate.id,
    is_bot: visit.isBot,
    country: geo.country,
    region: geo.region,
    city: geo.city,
    device_type: device.deviceType,
    os: device.os,
    browser: device.browser,
    traffic_source: values.traffic_source,
    source_id: values.source_id,
    sub1: values.sub1,
    sub2: values.sub2,
    sub3: values.sub3,
    sub4: values.sub4,
    sub5: values.sub5,
    sub6: values.sub6,
    sub7: values.sub7,
    sub8: values.sub8,
    sub9: values.sub9,
    sub10: values.sub10,
    ext_campaign_id: values.ext_campaign_id,
    ext_adgroup_id: values.ext_adgroup_id,
    ext_ad_id: values.ext_ad_id,
    ext_keyword: values.ext_keyword,
    ext_placement: values.ext_placement,
    domain: visit.domain,
    creative_id: values.creative_id,
  };
}
