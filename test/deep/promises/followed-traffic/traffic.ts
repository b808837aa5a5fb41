import { clickIdParts } from "../../../../schemas/ids/click-id.ts";
import type { LedgerClick, LedgerImpression } from "../../../integration/reports/ledger.ts";
import type { Visitor } from "../../../replay/expectation.ts";
import type { LogLine } from "../../../replay/log-lines.ts";
import { readVisitAnswer } from "../../../replay/visit-request.ts";
import { pause } from "../../../system/service.ts";
import { type Market, type Offer, type Partner, SORRY } from "./market.ts";

const QUARTER_MS = 900_000;
/** Far longer than any request takes. */
const CLEAR_MS = 2_000;

export type Dice = () => number;
type Sent = { readonly path: string; readonly params: Readonly<Record<string, string>> };

/** The visitors of a market, and their record: from their answers, and from the replay's own parsing of who they are. */
export class Traffic {
  readonly clicks: LedgerClick[] = [];
  readonly impressions: LedgerImpression[] = [];
  /** Clicks refused with 403: recorded, but in no report. */
  blocked = 0;
  readonly #market: Market;
  readonly #visitorOf: (ip: string, userAgent: string) => Visitor;
  /** Offer, partner and person of every click that could be unique. */
  readonly #seen = new Set<string>();

  constructor(market: Market, visitorOf: (ip: string, userAgent: string) => Visitor) {
    this.#market = market;
    this.#visitorOf = visitorOf;
  }

  /** Sends one request for a line of the log. Requests of one person must come one after another. */
  async visit(line: LogLine, random: Dice): Promise<LedgerClick | undefined> {
    const partner = pick(random, this.#market.partners);
    const offer = pick(random, this.#market.offers);
    const params = { ...chooseParams(random), page: line.path };
    const kind = random();
    if (kind < 0.15) {
      await this.#see(line, { offer, partner, params });
      return undefined;
    }
    const link = this.#chooseLink({ line, offer, partner, params }, kind, random);
    return await this.#click(line, partner, link);
  }

  /** The link of a visit. `kind` is from 0.15 to 1. */
  #chooseLink(
    of: {
      readonly line: LogLine;
      readonly offer: Offer;
      readonly partner: Partner;
      readonly params: Sent["params"];
    },
    kind: number,
    random: Dice,
  ): Sent & { readonly type: string } {
    const { line, offer, partner, params } = of;
    const { smartLink, offers, token } = this.#market;
    if (kind < 0.3) {
      const path = `/s/${smartLink.code}`;
      return { type: "smart", path, params: { ...params, aid: partner.code } };
    }
    if (kind < 0.45) {
      const path = `/c/${offers[0]?.code ?? ""}-${partner.code}`;
      const url = random() < 0.7 ? "https://shop.example/deep" : "ftp://x.example";
      return { type: "transparent", path, params: { ...params, url } };
    }
    if (kind < 0.6 && line.userAgent !== "") {
      const visitor = { ip: line.ip, user_agent: line.userAgent, token };
      const all = { ...params, ...visitor, oid: offer.code, affid: partner.code };
      return { type: "server", path: "/clk", params: all };
    }
    return { type: "affiliate", path: `/r/${offer.code}/${partner.code}`, params };
  }

  /** A click of a new visitor on the first offer by the first partner. Its `sub1` identifies it. */
  async mark(number: number): Promise<LedgerClick> {
    const [offer] = this.#market.offers;
    const [partner] = this.#market.partners;
    if (offer === undefined || partner === undefined) throw new Error("the market is empty");
    const line = { ...NEW_VISITOR, ip: `100.64.${number >> 8}.${number & 255}` };
    const path = `/r/${offer.code}/${partner.code}`;
    const params = { sub1: `m-${number}` };
    const click = await this.#click(line, partner, { type: "affiliate", path, params });
    if (click === undefined) throw new Error("a marker was refused");
    return click;
  }

  async #click(
    line: LogLine,
    partner: Partner,
    sent: Sent & { readonly type: string },
  ): Promise<LedgerClick | undefined> {
    const isByServer = sent.type === "server";
    const answer = readVisitAnswer(await this.#send(sent, isByServer ? undefined : line));
    if (answer.status === 403) {
      this.blocked += 1;
      return undefined;
    }
    const { clickId, location } = answer;
    if (clickId === "") throw new Error(`${sent.path}: HTTP ${answer.status} without a click id`);
    const offer = this.#offerOf(sent, location);
    const visitor = this.#visitorOf(line.ip, line.userAgent);
    const person = `${offer.id} ${partner.id} ${line.ip} ${line.userAgent}`;
    const isAccepted = isByServer ? answer.error === "0" : !location.startsWith(SORRY);
    const isUnique = this.#isUnique(person, visitor);
    const click: LedgerClick = {
      ...this.#attributes({ offer, partner, visitor, params: sent.params }),
      click_id: clickId,
      ts: clickIdParts(clickId).atMs,
      link_type: sent.type,
      ...(isAccepted ? ACCEPTED : sentToFallback(offer)),
      ...earnings(offer, { canEarn: isAccepted && !visitor.isBot, isUnique }),
      smart_link_id: sent.type === "smart" ? this.#market.smartLink.id : 0,
      is_unique: isUnique,
      is_bot: visitor.isBot,
      is_datacenter: false,
      gclid: "",
      referrer_host: isByServer ? "" : hostOf(line.referrer),
      destination: location,
    };
    this.clicks.push(click);
    return click;
  }

  async #see(
    line: LogLine,
    shown: {
      readonly offer: Offer;
      readonly partner: Partner;
      readonly params: Sent["params"];
    },
  ): Promise<void> {
    const { offer, partner, params } = shown;
    // The answer has no timestamp, so no hour of any time zone may begin during the request.
    const leftMs = QUARTER_MS - (Date.now() % QUARTER_MS);
    if (leftMs < CLEAR_MS) await pause(leftMs);
    const atMs = Date.now();
    const { status } = await this.#send({ path: `/i/${offer.code}/${partner.code}`, params }, line);
    if (status !== 200) throw new Error(`the pixel request got HTTP ${status}`);
    const visitor = this.#visitorOf(line.ip, line.userAgent);
    const ts = Math.floor((atMs + Date.now()) / 2);
    this.impressions.push({ ...this.#attributes({ offer, partner, visitor, params }), ts });
  }

  async #send({ path, params }: Sent, by: LogLine | undefined) {
    const { client, host } = this.#market;
    // `url` is the last parameter and escaped once, as ad platforms send it.
    const { url, ...rest } = params;
    const suffix = url === undefined ? "" : `&url=${encodeURIComponent(url)}`;
    const query = `${new URLSearchParams(rest)}${suffix}`;
    return await client.attempt(`${client.demo.tracking_url}${path}?${query}`, {
      host,
      ...(by === undefined
        ? { "user-agent": "shop-server/1.0" }
        : {
            "x-forwarded-for": by.ip,
            ...(by.userAgent === "" ? {} : { "user-agent": by.userAgent }),
            ...(by.referrer === "" ? {} : { referer: by.referrer }),
          }),
    });
  }

  /** The offer that the visitor requested, or was sent to. */
  #offerOf({ path, params }: Sent, location: string): Offer {
    const requested = params["oid"] ?? /^\/[rc]\/([A-Z]+)/.exec(path)?.[1];
    const code = requested ?? new URL(location).searchParams.get("offer");
    const offer = this.#market.offers.find((one) => one.code === code);
    if (offer === undefined) throw new Error(`${path} led to no offer: ${location}`);
    return offer;
  }

  #isUnique(person: string, { isBot }: Visitor): boolean {
    if (isBot || this.#seen.has(person)) return false;
    this.#seen.add(person);
    return true;
  }

  #attributes(of: {
    readonly offer: Offer;
    readonly partner: Partner;
    readonly visitor: Visitor;
    readonly params: Sent["params"];
  }) {
    const { offer, partner, visitor, params } = of;
    const sent = (name: string): string => params[name] ?? "";
    return {
      workspace_id: this.#market.workspaceId,
      offer_id: offer.id,
      advertiser_id: offer.advertiserId,
      affiliate_id: partner.id,
      country: visitor.country,
      region: "",
      city: "",
      device_type: visitor.deviceType,
      os: visitor.os,
      browser: visitor.browser,
      traffic_source: sent("traffic_source"),
      source_id: sent("source_id"),
      sub1: sent("sub1"),
      sub2: sent("sub2"),
      sub10: sent("sub10"),
      ext_campaign_id: sent("campaignid"),
      ext_adgroup_id: sent("adgroupid"),
      ext_ad_id: sent("creative"),
      ext_keyword: sent("keyword"),
      ext_placement: sent("placement"),
      domain: this.#market.host,
    };
  }
}

const NEW_VISITOR: LogLine = {
  number: 0,
  ip: "",
  path: "/",
  referrer: "",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
};

const VALUES: Readonly<Record<string, readonly string[]>> = {
  traffic_source: ["adplatform_a", "adplatform_b", ""],
  source_id: ["a,b", "c|d", 'q"q', ""],
  sub1: ["x", "X", "50%", "a:b", ""],
  sub2: ["\\", "'", "ü", ""],
  sub10: ["ten", ""],
  campaignid: ["c1", "c2", ""],
  adgroupid: ["g1", ""],
  creative: ["a1", ""],
  keyword: ["red shoes", ""],
  placement: ["p", ""],
};

function chooseParams(random: Dice): Record<string, string> {
  return Object.fromEntries(
    Object.entries(VALUES)
      .map(([name, values]): [string, string] => [name, pick(random, values)])
      .filter(([, value]) => value !== ""),
  );
}

export function pick<T>(random: Dice, list: readonly T[]): T {
  const one = list[Math.floor(random() * list.length)];
  if (one === undefined) throw new Error("nothing to choose from");
  return one;
}

const ACCEPTED = { status: "redirect", status_reason: "" };

function sentToFallback({ isPaused }: Offer): typeof ACCEPTED {
  return { status: "fallback", status_reason: isPaused === true ? "paused" : "targeting" };
}

/** The earnings of a click: of a unique one if the offer pays per click. A click that cannot earn has no currency either. */
function earnings(
  { events: [terms], currency }: Offer,
  { canEarn, isUnique }: { readonly canEarn: boolean; readonly isUnique: boolean },
): Pick<LedgerClick, "click_payout" | "click_revenue" | "currency"> {
  const isByClick = canEarn && terms?.payoutType === "cpc";
  const [payout, revenue] =
    isByClick && isUnique ? [terms.payout, terms.revenue] : ["0.0000", "0.0000"];
  return { click_payout: payout, click_revenue: revenue, currency: isByClick ? currency : "" };
}

function hostOf(referrer: string): string {
  return /^https?:\/\/([a-z0-9.-]+)/i.exec(referrer)?.[1]?.toLowerCase() ?? "";
}
