import type { Affiliate, Offer, Workspace } from "../../schemas/catalog/records.ts";
import type { LinkType } from "../../schemas/events/click-record.ts";
import { storedNormalIp } from "../../schemas/net/stored-ip.ts";
import { flagField, numberField, textField } from "../encode-record.ts";
import { detached } from "../request/bounded-cache.ts";
import type { Device } from "../request/device.ts";
import type { GeoFacts } from "../request/geo.ts";
import type { ClickParameters } from "../request/parameters.ts";
import type { Visit } from "../request/visit.ts";
import type { Outcome } from "./decide-click.ts";
import { compiled } from "./derived-index.ts";
import type { OfferLink } from "./find-link.ts";

/** Everything about a click after its decision. */
export type DecidedClick = {
  readonly atMs: number;
  readonly linkType: LinkType;
  readonly outcome: Outcome;
  /** Undefined for an unknown link (G140). */
  readonly workspace: Workspace | undefined;
  readonly affiliate: Affiliate | undefined;
  /** The link of an offer that the click followed. */
  readonly link?: OfferLink | undefined;
  readonly smartLinkId: number;
  readonly visit: Visit;
  readonly parameters: ClickParameters;
  readonly catalogVersion: number;
};

/**
 * The JSON of the click's `ClickRecord`, without fields at their default. It is built as text: building an object of 71 fields
 * and serialising it takes four times as long. Most of the time goes into joining pieces, so what links, devices and places add
 * is joined once and kept.
 */
export function clickLine(decided: DecidedClick): string {
  const { outcome, workspace, visit, parameters, link } = decided;
  const { offer, reason, location } = outcome;
  const mayBeUnique = !visit.isBot && workspace !== undefined && outcome.status !== "blocked";
  return (
    `{"click_id":"${outcome.clickId}","ts":${decided.atMs},"link_type":"${decided.linkType}"` +
    `,"status":"${outcome.status}"${reason === "" ? "" : `,"status_reason":"${reason}"`}` +
    (link !== undefined && link.offer === offer
      ? fieldsOfLink(link)
      : ownerFields(workspace, offer, decided.affiliate)) +
    numberField("smart_link_id", decided.smartLinkId) +
    flagField("may_be_unique", mayBeUnique) +
    visitFields(visit, workspace) +
    parameters.fields +
    textField("destination", location) +
    textField("extra", parameters.extra) +
    rateFields(outcome, visit) +
    `${numberField("catalog_version", decided.catalogVersion)}}`
  );
}

/** Records and links of the catalog are never altered, so this stays true. */
const fieldsOfLink = compiled<OfferLink, string>(({ workspace, offer, affiliate }) =>
  detached(ownerFields(workspace, offer, affiliate)),
);

function ownerFields(
  workspace: Workspace | undefined,
  offer: Offer | undefined,
  affiliate: Affiliate | undefined,
): string {
  return (
    numberField("workspace_id", workspace?.id ?? 0) +
    numberField("offer_id", offer?.id ?? 0) +
    numberField("advertiser_id", offer?.advertiser_id ?? 0) +
    numberField("affiliate_id", affiliate?.id ?? 0)
  );
}

function visitFields(visit: Visit, workspace: Workspace | undefined): string {
  return (
    flagField("is_bot", visit.isBot) +
    flagField("is_proxy", visit.isProxy) +
    textField("ip", storedNormalIp(visit.ip, workspace?.ip_storage)) +
    numberField("visitor", visit.visitor) +
    deviceFields(visit.device, visit.userAgent) +
    geoFields(visit.geo) +
    textField("referrer", visit.referrer) +
    textField("referrer_host", visit.referrerHost) +
    textField("language", visit.language) +
    textField("domain", visit.domain)
  );
}

function deviceFields(device: Device, userAgent: string): string {
  const { fields } = device;
  if (fields?.userAgent === userAgent) return fields.text;
  const text = detached(
    textField("user_agent", userAgent) +
      flagField("is_headless", device.isHeadless) +
      flagField("missing_ua", device.missingUa) +
      textField("device_type", device.deviceType) +
      textField("os", device.os) +
      textField("os_version", device.osVersion) +
      textField("browser", device.browser) +
      textField("browser_version", device.browserVersion),
  );
  if (fields !== null) device.fields = { userAgent, text };
  return text;
}

const geoFields = compiled<GeoFacts, string>((geo) =>
  detached(
    flagField("is_datacenter", geo.isDatacenter) +
      textField("country", geo.country) +
      textField("region", geo.region) +
      textField("city", geo.city) +
      numberField("asn", geo.asn) +
      textField("as_name", geo.asName),
  ),
);

/**
 * What a unique click earns: only on offers paid per click, and only for people who were redirected (G71). A click that a condition refuses
 * earns nothing, although its `url=` redirects it (G232).
 */
function rateFields({ offer, status, isRefused }: Outcome, visit: Visit): string {
  if (offer === undefined || status !== "redirect" || visit.isBot) return "";
  const isPaid = offer.payout_type === "cpc";
  const isBilled = offer.revenue_type === "rpc";
  if ((!isPaid && !isBilled) || isRefused === true) return "";
  return (
    (isPaid ? textField("click_payout", offer.payout) : "") +
    (isBilled ? textField("click_revenue", offer.revenue) : "") +
    textField("currency", offer.currency)
  );
}
