/*
 * The sample traffic of the demo workspace: who sends how many visitors to which offer, and what becomes of them. The codes match
 * api/cli/demo-offers.ts.
 */

/** What a visitor may do on the advertiser's page. */
export type DemoGoal = {
  readonly event: string;
  /** Share of the visitors. */
  readonly rate: number;
  readonly delayMinutes: number;
  /** Median of the sale; absent for an event without an amount. */
  readonly amount?: number;
  /** The goal is reached only after the goal before it. */
  readonly follows?: true;
  /** How often it may happen again. */
  readonly repeats?: number;
};

/** What the advertiser reports later about an order. */
export type DemoReview = {
  readonly status: "approved" | "rejected";
  readonly share: number;
  readonly afterDays: number;
};

export type DemoStream = {
  /** Path and fixed parameters of the link. */
  readonly link: string;
  readonly offer: string;
  readonly partner: string;
  readonly visitsPerDay: number;
  readonly referrer: string;
  readonly audience: "german" | "european" | "american" | "global";
  readonly mobileShare: number;
  readonly botShare: number;
  /** Factor on Saturdays and Sundays. */
  readonly weekend: number;
  /** Factor on the days when a newsletter goes out, and their numbers from Sunday = 0. */
  readonly newsletter?: { readonly days: readonly number[]; readonly factor: number };
  /** Values that vary from visit to visit. */
  readonly varying: Readonly<Record<string, readonly string[]>>;
  readonly hasGclid?: true;
  readonly impressionsPerVisit?: number;
  /** Price of a visit, for ad costs. */
  readonly costPerVisit?: number;
  readonly goals: readonly DemoGoal[];
  readonly reviews?: readonly DemoReview[];
  /** Share of orders that the advertiser reports twice. */
  readonly reportedTwice?: number;
};

const SHOP_GOALS: readonly DemoGoal[] = [
  { event: "default", rate: 0.045, delayMinutes: 25, amount: 62 },
  { event: "repeat", rate: 0.2, delayMinutes: 9_000, amount: 48, follows: true, repeats: 2 },
];
const SIGNUP: DemoGoal = { event: "signup", rate: 0.03, delayMinutes: 4 };
const RETURNS: readonly DemoReview[] = [{ status: "rejected", share: 0.07, afterDays: 6 }];

export const DEMO_STREAMS: readonly DemoStream[] = [
  {
    link: "/r/DEMOSHOP/DEMOANNA?ts=blog",
    offer: "DEMOSHOP",
    partner: "DEMOANNA",
    visitsPerDay: 62,
    referrer: "https://annas-blog.example/",
    audience: "german",
    mobileShare: 0.58,
    botShare: 0.04,
    weekend: 1.2,
    varying: {
      sub1: ["best-rain-jackets", "gift-guide", "autumn-sale", "size-guide", "home"],
      sub2: ["text-link", "button", "sidebar"],
    },
    impressionsPerVisit: 1.5,
    goals: [...SHOP_GOALS, SIGNUP],
    reviews: RETURNS,
    reportedTwice: 0.04,
  },
  {
    link: "/c/demo-shop-anna?url=https%3A%2F%2Fshop.example%2Flanding&ts=google&network=g",
    offer: "DEMOSHOP",
    partner: "DEMOANNA",
    visitsPerDay: 48,
    referrer: "https://www.google.com/",
    audience: "german",
    mobileShare: 0.52,
    botShare: 0.01,
    weekend: 0.95,
    varying: {
      campaignid: ["brand-search", "generic-search", "generic-search", "competitors"],
      adgroupid: ["jackets", "boots", "tents"],
      keyword: ["rain jacket", "hiking boots", "light tent", "shop voucher"],
    },
    hasGclid: true,
    costPerVisit: 0.38,
    goals: [...SHOP_GOALS, SIGNUP],
    reviews: RETURNS,
  },
  {
    link: "/r/DEMOSHOP/DEMOBOB?ts=coupons",
    offer: "DEMOSHOP",
    partner: "DEMOBOB",
    visitsPerDay: 40,
    referrer: "https://bobs-coupons.example/shop",
    audience: "american",
    mobileShare: 0.41,
    botShare: 0.03,
    weekend: 1.3,
    varying: { sub1: ["SAVE10", "FREESHIP", "WELCOME5"], source_id: ["top-list", "search", "app"] },
    goals: [{ event: "default", rate: 0.085, delayMinutes: 9, amount: 54 }, SIGNUP],
    reviews: [{ status: "rejected", share: 0.12, afterDays: 8 }],
    reportedTwice: 0.06,
  },
  {
    link: "/r/DEMOSALE/DEMOBOB?ts=coupons",
    offer: "DEMOSALE",
    partner: "DEMOBOB",
    visitsPerDay: 26,
    referrer: "https://bobs-coupons.example/sale",
    audience: "european",
    mobileShare: 0.44,
    botShare: 0.03,
    weekend: 1.25,
    varying: { sub1: ["SAVE15", "LASTCALL"], source_id: ["top-list", "search"] },
    goals: [{ event: "default", rate: 0.055, delayMinutes: 14, amount: 88 }],
    reviews: RETURNS,
  },
  {
    link: "/r/DEMOCLICK/DEMOCLEO?ts=facebook&campaign_id=readers",
    offer: "DEMOCLICK",
    partner: "DEMOCLEO",
    visitsPerDay: 85,
    referrer: "https://l.facebook.com/",
    audience: "global",
    mobileShare: 0.86,
    botShare: 0.09,
    weekend: 1.05,
    varying: { ad_id: ["video-a", "video-b", "image-1"], placement: ["feed", "stories", "reels"] },
    impressionsPerVisit: 1.5,
    costPerVisit: 0.03,
    goals: [],
  },
  {
    link: "/r/DEMOTRIAL/DEMOANNA?ts=blog",
    offer: "DEMOTRIAL",
    partner: "DEMOANNA",
    visitsPerDay: 24,
    referrer: "https://annas-blog.example/tools",
    audience: "european",
    mobileShare: 0.24,
    botShare: 0.05,
    weekend: 0.5,
    varying: { sub1: ["tool-comparison", "how-to-plan", "home"] },
    goals: [{ event: "default", rate: 0.06, delayMinutes: 40 }],
  },
  {
    link: "/s/DEMOSMART?ts=app",
    offer: "",
    partner: "DEMOANNA",
    visitsPerDay: 18,
    referrer: "",
    audience: "european",
    mobileShare: 0.95,
    botShare: 0.01,
    weekend: 1.1,
    varying: { sub1: ["push", "inbox"] },
    goals: [{ event: "default", rate: 0.04, delayMinutes: 30, amount: 45 }],
  },
  {
    link: "/r/DEMOTEAM/DEMOANNA?ts=blog",
    offer: "DEMOTEAM",
    partner: "DEMOANNA",
    visitsPerDay: 7,
    referrer: "https://annas-blog.example/teams",
    audience: "european",
    mobileShare: 0.15,
    botShare: 0.03,
    weekend: 0.3,
    varying: { sub1: ["team-review", "pricing"] },
    goals: [{ event: "default", rate: 0.05, delayMinutes: 2_400 }],
  },
  {
    link: "/r/DEMOTEAM/DEMOBOB?ts=coupons",
    offer: "DEMOTEAM",
    partner: "DEMOBOB",
    visitsPerDay: 3,
    referrer: "https://bobs-coupons.example/software",
    audience: "american",
    mobileShare: 0.3,
    botShare: 0.02,
    weekend: 0.6,
    varying: { sub1: ["TEAM20"] },
    goals: [],
  },
  {
    link: "/r/DEMOTRAVEL/DEMODANA?ts=newsletter",
    offer: "DEMOTRAVEL",
    partner: "DEMODANA",
    visitsPerDay: 30,
    referrer: "",
    audience: "european",
    mobileShare: 0.49,
    botShare: 0.02,
    weekend: 0.8,
    newsletter: { days: [2, 5], factor: 3.2 },
    varying: { sub1: ["city-trips", "beach", "last-minute"], sub2: ["hero", "list", "footer"] },
    goals: [{ event: "default", rate: 0.028, delayMinutes: 300, amount: 540 }],
    reviews: [{ status: "rejected", share: 0.1, afterDays: 5 }],
  },
  {
    link: "/r/DEMOGAME/DEMOEMIL?ts=youtube",
    offer: "DEMOGAME",
    partner: "DEMOEMIL",
    visitsPerDay: 66,
    referrer: "https://www.youtube.com/",
    audience: "american",
    mobileShare: 0.82,
    botShare: 0.02,
    weekend: 1.45,
    varying: { sub1: ["episode-41", "episode-42", "episode-43", "short-17"] },
    goals: [
      { event: "default", rate: 0.13, delayMinutes: 6 },
      {
        event: "purchase",
        rate: 0.16,
        delayMinutes: 1_900,
        amount: 9,
        follows: true,
        repeats: 3,
      },
    ],
  },
  {
    link: "/r/DEMOGAME/DEMOCLEO?ts=tiktok&campaign_id=install-now",
    offer: "DEMOGAME",
    partner: "DEMOCLEO",
    visitsPerDay: 52,
    referrer: "https://www.tiktok.com/",
    audience: "global",
    mobileShare: 0.97,
    botShare: 0.14,
    weekend: 1.2,
    varying: { ad_id: ["clip-1", "clip-2", "clip-3"], adgroup_id: ["18-24", "25-34"] },
    costPerVisit: 0.11,
    goals: [
      { event: "default", rate: 0.09, delayMinutes: 1 },
      { event: "purchase", rate: 0.03, delayMinutes: 2_600, amount: 5, follows: true },
    ],
  },
  {
    link: "/r/DEMOLOAN/DEMODANA?ts=newsletter",
    offer: "DEMOLOAN",
    partner: "DEMODANA",
    visitsPerDay: 14,
    referrer: "",
    audience: "german",
    mobileShare: 0.38,
    botShare: 0.01,
    weekend: 0.55,
    newsletter: { days: [4], factor: 3.5 },
    varying: { sub1: ["car-loan", "home-loan"] },
    goals: [{ event: "default", rate: 0.08, delayMinutes: 55 }],
    reviews: [
      { status: "approved", share: 0.55, afterDays: 3 },
      { status: "rejected", share: 0.3, afterDays: 4 },
    ],
  },
];
