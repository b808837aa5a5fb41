import type { OfferRules } from "./world.ts";

/** The plan for one offer: the body of `POST /offers`, and what only other calls can set. */
export type OfferPlan = {
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly rules: OfferRules;
  /** Indexes of the approved partners in the list of partners; no other partner may use the offer. */
  readonly approved?: readonly number[];
  /** Key of the offer to which visitors go if this one refuses them. */
  readonly failRoute?: string;
  /** Its traffic, relative to the other offers. */
  readonly share: number;
};

/** The beginning of every fallback URL, which shows in an answer that no offer accepted the visitor. */
export const SORRY = "https://sorry";

const ALERTED = { alert_only: true };
const TERMS: readonly Readonly<Record<string, string>>[] = [
  {
    currency: "USD",
    payout_type: "cpa",
    payout: "12.0000",
    revenue_type: "rpa",
    revenue: "18.5000",
  },
  {
    currency: "EUR",
    payout_type: "cps",
    payout: "7.5000",
    revenue_type: "rps",
    revenue: "12.2500",
  },
  { currency: "USD", payout_type: "cpc", payout: "0.0700", revenue_type: "rpc", revenue: "0.1125" },
  {
    currency: "GBP",
    payout_type: "cpa",
    payout: "0.3333",
    revenue_type: "rps",
    revenue: "33.3333",
  },
];

/**
 * Offers with every kind of rule. Caps grow with the run, so that each is reached somewhere in the middle: an offer with share 1
 * gets about one line in forty.
 */
export function planOffers(lines: number, nowMs: number): OfferPlan[] {
  const some = (part: number): number => Math.max(3, Math.round((lines / 40) * part));
  const rules: (Omit<OfferPlan, "body" | "share"> & { share?: number })[] = [
    ...["OPEN", "SALE", "CLICK", "PENCE"].map((key) => ({ key, rules: {} })),
    ...targeted(),
    { key: "CAPDAY", rules: { caps: { clicks: { daily: some(0.6) } } } },
    { key: "CAPTOTAL", rules: { caps: { clicks: { total: some(0.4), daily: some(20) } } } },
    { key: "CAPALERT", rules: { caps: { clicks: { daily: some(0.3) }, ...ALERTED } } },
    // Several rules on one offer, to check their order.
    {
      key: "CAPEUROPE",
      rules: {
        targeting: { countries_allow: ["FR", "DE", "GB"] },
        caps: { clicks: { daily: some(0.1) } },
      },
    },
    { key: "CAPNONE", rules: { caps: { clicks: { total: 0 } } } },
    { key: "CAPCONV", rules: { caps: { conversions: { daily: some(0.1) } } }, share: 2 },
    { key: "CAPBOTH", rules: both(some(0.5), some(0.06)), failRoute: "SALE" },
    { key: "ONCE", rules: { duplicateSeconds: 3_600 }, share: 3 },
    { key: "ONCEASECOND", rules: { duplicateSeconds: 1 }, share: 3 },
    { key: "ONCECAP", rules: { duplicateSeconds: 3_600, caps: { clicks: { daily: some(0.5) } } } },
    { key: "PAUSED", rules: { isClosed: true, targeting: { countries_deny: ["US"] } } },
    { key: "OVER", rules: { isClosed: true } },
    { key: "NIGHT", rules: { isClosed: true }, failRoute: "CAPTOTAL" },
    { key: "HOURS", rules: {} },
    { key: "APPROVAL", rules: { targeting: { os_deny: ["Windows"] } }, approved: [0, 1] },
    { key: "CONTROLLED", rules: {}, share: 3 },
    { key: "SENTON", rules: {}, share: 2 },
    { key: "TAKER", rules: { caps: { clicks: { total: some(0.8) } } }, share: 0.2 },
  ];
  return rules.map(({ share = 1, ...plan }, index) => ({
    ...plan,
    share,
    body: { ...bodyOf(plan.key, index, plan.rules), ...scheduleOf(plan.key, nowMs) },
  }));
}

function both(clicks: number, conversions: number): OfferRules {
  return { caps: { clicks: { daily: clicks }, conversions: { total: conversions } } };
}

function targeted(): { key: string; rules: OfferRules; failRoute?: string }[] {
  return [
    {
      key: "EUROPE",
      rules: { targeting: { countries_allow: ["DE", "fr", "GB", "SE", "NL", "PL"] } },
    },
    { key: "NOTUSA", rules: { targeting: { countries_deny: ["US"] } } },
    { key: "DESKTOP", rules: { targeting: { devices_allow: ["desktop"] } }, failRoute: "OPEN" },
    { key: "NOPHONES", rules: { targeting: { devices_deny: ["mobile", "tablet"] } } },
    { key: "APPLE", rules: { targeting: { os_allow: ["Mac OS", "ios"] } } },
    { key: "NOWINDOWS", rules: { targeting: { os_deny: ["windows"] } }, failRoute: "CAPDAY" },
    { key: "FIREFOX", rules: { targeting: { browsers_allow: ["firefox", "Safari"] } } },
    {
      key: "NARROW",
      rules: {
        targeting: {
          countries_deny: ["CN", "RU", "FR"],
          devices_deny: ["tablet"],
          os_deny: ["Solaris", "iOS"],
          browsers_deny: ["IE", "opera"],
        },
      },
    },
  ];
}

function bodyOf(key: string, index: number, rules: OfferRules): Record<string, unknown> {
  const host = `${key.toLowerCase()}.shop.example`;
  const hasOwnFallback = index % 2 === 0;
  return {
    code: key,
    name: `Replay ${key}`,
    destination_url: `https://${host}/landing?cid={click_id}&line={sub2}&aff={affiliate_code}&o={offer_code}`,
    fallback_url: hasOwnFallback ? `${SORRY}.${host}/?cid={click_id}&o={offer_code}` : "",
    allowed_domains: [`${key.toLowerCase()}.partner.example`],
    ...TERMS[index % TERMS.length],
    ...(rules.caps === undefined ? {} : { caps: rules.caps }),
    ...(rules.targeting === undefined ? {} : { targeting: rules.targeting }),
  };
}

/** Schedules that stay open, or stay closed, for hours. */
function scheduleOf(key: string, nowMs: number): Record<string, unknown> {
  const hour = (ahead: number): number => new Date(nowMs + ahead * 3_600_000).getUTCHours();
  const time = (ahead: number): string => new Date(nowMs + ahead * 3_600_000).toISOString();
  switch (key) {
    case "PAUSED":
      return { status: "paused" };
    case "OVER":
      return { targeting: { schedule: { ends_at: time(-1) } } };
    case "NIGHT":
      return { targeting: { schedule: { tz: "UTC", hours: [hour(10), hour(11), hour(12)] } } };
    case "HOURS":
      return {
        targeting: {
          schedule: {
            tz: "UTC",
            days: [1, 2, 3, 4, 5, 6, 7],
            starts_at: time(-2),
            ends_at: time(12),
            hours: [-1, 0, 1, 2, 3, 4].map(hour),
          },
        },
      };
    case "APPROVAL":
      return { visibility: "approval" };
    default:
      return {};
  }
}
