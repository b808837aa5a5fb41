import { randomUUID } from "node:crypto";

/** All events in the columns of ClickHouse, from which a recount is made. Money is decimal text, `ts` UTC ms. */
export type Ledger = {
  readonly clicks: LedgerClick[];
  readonly impressions: LedgerImpression[];
  readonly conversions: LedgerConversion[];
  readonly costs: LedgerCost[];
  readonly rates: LedgerRate[];
};

type Attributes = {
  workspace_id: number;
  offer_id: number;
  advertiser_id: number;
  affiliate_id: number;
  country: string;
  region: string;
  city: string;
  device_type: string;
  os: string;
  browser: string;
  traffic_source: string;
  source_id: string;
  sub1: string;
  sub2: string;
  sub10: string;
  ext_campaign_id: string;
  ext_adgroup_id: string;
  ext_ad_id: string;
  ext_keyword: string;
  ext_placement: string;
  domain: string;
};

export type LedgerClick = Attributes & {
  click_id: string;
  ts: number;
  link_type: string;
  status: string;
  status_reason: string;
  smart_link_id: number;
  is_unique: boolean;
  is_bot: boolean;
  is_datacenter: boolean;
  referrer_host: string;
  language?: string;
  os_version?: string;
  as_name?: string;
  gclid: string;
  destination: string;
  click_payout: string;
  click_revenue: string;
  currency: string;
};

export type LedgerImpression = Attributes & { ts: number; creative_id?: string };

export type LedgerConversion = Attributes & {
  id: string;
  version: number;
  conv_ts: number;
  click_ts: number | null;
  link_type: string;
  smart_link_id: number;
  event_code: string;
  is_private: boolean;
  status: string;
  status_reason: string;
  revenue: string;
  payout: string;
  sale_amount: string;
  currency: string;
  is_duplicate: boolean;
  method: string;
};

export type LedgerCost = Pick<
  Attributes,
  | "workspace_id"
  | "offer_id"
  | "advertiser_id"
  | "affiliate_id"
  | "traffic_source"
  | "ext_campaign_id"
  | "ext_adgroup_id"
> & {
  id: number;
  version: number;
  /** `2025-03-30 02:00:00`, without a zone. */
  wall_time: string;
  currency: string;
  amount: string;
};

/** Units of a currency per EUR on a day. */
export type LedgerRate = {
  readonly date: string;
  readonly currency: string;
  readonly rate: string;
};

export type LedgerPlan = {
  readonly random: () => number;
  readonly workspaceId: number;
  readonly offerIds: readonly number[];
  readonly advertiserIds: readonly number[];
  readonly affiliateIds: readonly number[];
  readonly smartLinkId: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly size: number;
  readonly newClickId: (atMs: number) => string;
};

const QUARTER_MS = 900_000;

/** Random traffic in which every dimension has several values, also empty ones, and many times are at the ends of hours and days. */
export function makeLedger(plan: LedgerPlan): Ledger {
  const maker = new LedgerMaker(plan);
  const times = <T>(count: number, make: () => T): T[] =>
    Array.from({ length: Math.floor(count) }, make);
  return {
    clicks: times(plan.size, () => maker.click()),
    impressions: times(plan.size / 2, () => maker.impression()),
    conversions: times(plan.size / 3, () => maker.conversion()),
    costs: times(plan.size / 5, () => maker.cost()),
    rates: makeRates(plan),
  };
}

class LedgerMaker {
  readonly #plan: LedgerPlan;
  #costs = 0;

  constructor(plan: LedgerPlan) {
    this.#plan = plan;
  }

  click(): LedgerClick {
    const attributes = this.#attributes();
    const { fromMs, toMs, newClickId, smartLinkId } = this.#plan;
    const ts = Math.min(Math.max(this.#instant(), fromMs), toMs);
    const isUnique = this.#chance(0.6);
    const earns = isUnique && this.#chance(0.3);
    return {
      ...attributes,
      click_id: newClickId(ts),
      ts,
      link_type: this.#pick("affiliate", "transparent", "smart"),
      status: this.#pick("redirect", "redirect", "fallback", "blocked", "none"),
      status_reason: this.#pick("", "paused"),
      smart_link_id: this.#pick(0, smartLinkId),
      is_unique: isUnique,
      is_bot: !isUnique && this.#chance(0.5),
      is_datacenter: this.#chance(0.2),
      referrer_host: this.#pick("", "blog.example"),
      language: this.#pick("", "de", "en"),
      os_version: this.#pick("", "14.1"),
      as_name: this.#pick("", "Example Net"),
      gclid: this.#pick("", "gclid-1"),
      destination: "https://shop.example/",
      click_payout: earns ? this.#money(2) : "0.0000",
      click_revenue: earns ? this.#money(3) : "0.0000",
      // Offers that pay by conversion leave it out.
      currency:
        attributes.offer_id === 0 || (!earns && this.#chance(0.5))
          ? ""
          : this.#currency(attributes.offer_id),
    };
  }

  impression(): LedgerImpression {
    return { ...this.#attributes(), ts: this.#instant(), creative_id: this.#pick("", "7") };
  }

  conversion(): LedgerConversion {
    const attributes = this.#attributes();
    const convTs = this.#instant();
    return {
      ...attributes,
      id: randomUUID(),
      version: 1,
      conv_ts: convTs,
      click_ts: this.#chance(0.7) ? convTs - this.#delay() : null,
      link_type: this.#pick("affiliate", "smart"),
      smart_link_id: this.#pick(0, this.#plan.smartLinkId),
      event_code: this.#pick("default", "sale", "lead"),
      is_private: this.#chance(0.2),
      status: this.#pick("approved", "approved", "pending", "rejected"),
      status_reason: this.#pick("", "fraud:bot"),
      revenue: this.#money(100),
      payout: this.#money(80),
      sale_amount: this.#money(500),
      currency: this.#pick("USD", "USD", this.#currency(attributes.offer_id), "GBP", "KWD"),
      is_duplicate: this.#chance(0.2),
      method: this.#pick("s2s", "pixel", "js", "api"),
    };
  }

  /** A cost of any day and often of an hour at which clocks change, in a currency with all, some or no rates. */
  cost(): LedgerCost {
    const attributes = this.#attributes();
    const { fromMs, toMs } = this.#plan;
    const day = new Date(fromMs + this.#whole(toMs - fromMs)).toISOString().slice(0, 10);
    const hour = this.#pick(0, 1, 2, 3, 23, this.#whole(24));
    this.#costs += 1;
    return {
      id: this.#costs,
      version: 1,
      workspace_id: attributes.workspace_id,
      offer_id: attributes.offer_id,
      advertiser_id: attributes.advertiser_id,
      affiliate_id: attributes.affiliate_id,
      traffic_source: attributes.traffic_source,
      ext_campaign_id: attributes.ext_campaign_id,
      ext_adgroup_id: attributes.ext_adgroup_id,
      wall_time: `${this.#pick(day, day, "2025-03-30", "2025-04-06")} ${String(hour).padStart(2, "0")}:00:00`,
      currency: this.#pick("USD", "EUR", "GBP", "JPY", "KWD"),
      amount: this.#pick(this.#money(50), this.#money(5), "0.0000"),
    };
  }

  #attributes(): Attributes {
    const { offerIds, advertiserIds, affiliateIds, workspaceId } = this.#plan;
    const offer = this.#whole(offerIds.length + 1);
    return {
      workspace_id: this.#chance(0.95) ? workspaceId : workspaceId + 1,
      offer_id: offerIds[offer] ?? 0,
      advertiser_id: offer < offerIds.length ? (advertiserIds[offer % 2] ?? 0) : 0,
      affiliate_id: this.#pick(0, ...affiliateIds),
      country: this.#pick("US", "DE", "IN", ""),
      region: this.#pick("CA", ""),
      city: this.#pick("Köln", "O'Fallon", ""),
      device_type: this.#pick("mobile", "desktop"),
      os: this.#pick("iOS", "Windows"),
      browser: this.#pick("Chrome", "Safari"),
      traffic_source: this.#pick("adplatform_a", ""),
      source_id: this.#pick("a,b", "c|d", 'q"q', ""),
      sub1: this.#pick("x", "X", "50%", "a:b", ""),
      sub2: this.#pick("\\", "'", ""),
      sub10: this.#pick("ten", ""),
      ext_campaign_id: this.#pick("c1", "c2", ""),
      ext_adgroup_id: this.#pick("g1", ""),
      ext_ad_id: this.#pick("a1", ""),
      ext_keyword: this.#pick("red shoes", ""),
      ext_placement: this.#pick("p", ""),
      domain: this.#pick("go.example", "trk.example"),
    };
  }

  #instant(): number {
    const { fromMs, toMs } = this.#plan;
    const atMs = fromMs + this.#whole(toMs - fromMs);
    const quarter = Math.floor(atMs / QUARTER_MS) * QUARTER_MS;
    return this.#pick(atMs, quarter, quarter - 1);
  }

  /** Often at the ends of the steps of `conversion_delay`. */
  #delay(): number {
    const minutes = this.#pick(0, 1, 5, 60, 360, 1_440, 4_320, 10_080, 43_200);
    return Math.max(0, minutes * 60_000 - this.#pick(0, 1, this.#whole(60_000)));
  }

  #currency(offerId: number): string {
    return offerId === this.#plan.offerIds.at(-1) ? "EUR" : "USD";
  }

  #money(unit: number): string {
    return `${this.#whole(unit)}.${String(this.#whole(10_000)).padStart(4, "0")}`;
  }

  #whole(below: number): number {
    return Math.floor(this.#plan.random() * below);
  }

  #chance(share: number): boolean {
    return this.#plan.random() < share;
  }

  #pick<T>(first: T, ...others: readonly T[]): T {
    return [first, ...others][this.#whole(others.length + 1)] ?? first;
  }
}

/** Rates of one currency for every day, of one with a gap of more than a week, of one for a single day, of others none. */
function makeRates({ fromMs, toMs }: Pick<LedgerPlan, "fromMs" | "toMs">): LedgerRate[] {
  const days = Array.from({ length: Math.ceil((toMs - fromMs) / 86_400_000) + 4 }, (_, index) =>
    new Date(fromMs + (index - 3) * 86_400_000).toISOString().slice(0, 10),
  );
  return days.flatMap((date, index) => [
    { date, currency: "USD", rate: `1.0${index}37` },
    ...(index < 2 || index > 12 ? [{ date, currency: "GBP", rate: `0.8${index}21` }] : []),
    ...(index === 6 ? [{ date, currency: "JPY", rate: "161.0000000003" }] : []),
  ]);
}

/** Makes later versions of some conversions (`changes`); `now` are all conversions with these changes. */
export function changeConversions(
  conversions: readonly LedgerConversion[],
  random: () => number,
): { readonly changes: LedgerConversion[]; readonly now: LedgerConversion[] } {
  const changes: LedgerConversion[] = [];
  const now = conversions.map((conversion) => {
    if (random() < 0.7) return conversion;
    const change = {
      ...conversion,
      version: 2,
      status: random() < 0.5 ? "rejected" : "approved",
      payout: "7.0001",
    };
    changes.push(change);
    return change;
  });
  return { changes, now };
}
