import { MONEY_GROUP } from "./money-group.ts";
import type { ReferenceGroup, ReferenceResource } from "./reference-group.ts";

/** The pages of the reference, grouped by what people do with the calls. A test demands that every operation has a page. */
export const REFERENCE_GROUPS: readonly ReferenceGroup[] = [
  {
    title: "Offers",
    resources: [
      {
        page: "offers",
        title: "Offers",
        about: "What partners promote: terms, caps, targeting and settings.",
        paths: ["/offers"],
      },
      {
        page: "offer-events",
        title: "Events",
        about:
          "The goals of an offer, such as a signup and a first deposit, each with its own terms. Every offer has a default event.",
        paths: ["/offers/{id}/events"],
      },
      {
        page: "partner-access",
        title: "Partner access",
        about:
          "Which partner may run an offer, requests of partners for it, and the terms that partners accept.",
        paths: [
          "/offers/{id}/affiliates",
          "/offers/{id}/terms",
          "/offers/{id}/accept-terms",
          "/offers/{id}/access-request",
          "/access-requests",
        ],
      },
      {
        page: "creatives",
        title: "Creatives",
        about: "Banners, links and texts of an offer.",
        paths: ["/offers/{id}/creatives", "/creatives"],
      },
      {
        page: "offer-groups",
        title: "Offer groups",
        about: "Offers that share caps.",
        paths: ["/offer-groups"],
      },
      {
        page: "deals",
        title: "Deals and product feeds",
        about: "Promotions and product lists of advertisers, for partners.",
        paths: ["/deals", "/product-feeds"],
      },
      {
        page: "cap-usage",
        title: "Use of caps",
        about: "How much of the caps of offers, groups and advertisers is used.",
        paths: ["/cap-usage"],
      },
    ],
  },
  {
    title: "Partners and advertisers",
    resources: [
      {
        page: "affiliates",
        title: "Affiliates",
        about: "Affiliates are the partners who send visitors.",
        paths: ["/affiliates"],
      },
      {
        page: "payout-overrides",
        title: "Payout overrides",
        about: "Other terms of an offer for one partner.",
        paths: ["/payout-overrides"],
      },
      {
        page: "coupons",
        title: "Coupons",
        about: "Codes that credit a sale to a partner without a click.",
        paths: ["/coupons"],
      },
      {
        page: "advertisers",
        title: "Advertisers",
        about: "Owners of offers, who report conversions with their postback token.",
        paths: ["/advertisers"],
      },
    ],
  },
  {
    title: "Domains and links",
    resources: [
      {
        page: "tracking-domains",
        title: "Tracking domains",
        about: "Hosts of your links, and which partner or offer uses which.",
        paths: ["/tracking-domains", "/tracking-domain-assignments"],
      },
      {
        page: "tracking-links",
        title: "Tracking links",
        about: "Links of partners to offers, and the keys of transparent links.",
        paths: ["/tracking-link", "/link-keys"],
      },
      {
        page: "smart-links",
        title: "Smart links",
        about: "Links that choose an offer for each visitor by rules and weights.",
        paths: ["/smart-links"],
      },
      {
        page: "code-aliases",
        title: "Aliases",
        about: "Codes of an earlier system that keep their links working.",
        paths: ["/code-aliases"],
      },
      {
        page: "traffic-sources",
        title: "Traffic source templates",
        about: "Parameters that links for a traffic source carry.",
        paths: ["/traffic-source-templates"],
      },
      {
        page: "ad-platforms",
        title: "Ad platform templates",
        about: "Checks of the tracking templates that ad platforms use.",
        paths: ["/google-ads", "/ad-platform"],
      },
      {
        page: "blocklist",
        title: "Blocklist",
        about: "Targets to which no link of the workspace may redirect.",
        paths: ["/blocklist"],
      },
    ],
  },
  {
    title: "Rules",
    resources: [
      {
        page: "traffic-controls",
        title: "Traffic controls",
        about: "Rules that block clicks or forward them to another offer.",
        paths: ["/traffic-controls"],
      },
      {
        page: "conversion-rules",
        title: "Conversion rules",
        about: "Rules that reject conversions or hold them for a review.",
        paths: ["/conversion-rules"],
      },
    ],
  },
  {
    title: "Clicks and conversions",
    resources: [
      {
        page: "clicks",
        title: "Clicks",
        about: "Single clicks, with their conversions.",
        paths: ["/clicks"],
      },
      {
        page: "conversions",
        title: "Conversions",
        about: "Single conversions: read, create by hand, approve or reject.",
        paths: ["/conversions"],
      },
      {
        page: "conversion-updates",
        title: "Confirmations by file",
        about: "What advertisers confirm: checked, applied and undone as a file.",
        paths: ["/conversion-updates"],
      },
    ],
  },
  {
    title: "Reports, costs and rates",
    resources: [
      {
        page: "reports",
        title: "Reports",
        about: "Sums over clicks, impressions, conversions and costs.",
        paths: ["/reports"],
      },
      {
        page: "ad-costs",
        title: "Ad costs",
        about: "What you paid for ads. Reports show it beside revenue.",
        paths: ["/ad-costs"],
      },
      {
        page: "fx-rates",
        title: "Reference rates",
        about: "Daily rates by which reports convert currencies.",
        paths: ["/fx-rates"],
      },
    ],
  },
  MONEY_GROUP,
  {
    title: "Postbacks, webhooks and logs",
    resources: [
      {
        page: "postbacks",
        title: "Partner postbacks",
        about: "Messages to partners about their conversions, with the results.",
        paths: ["/postbacks", "/postback-deliveries"],
      },
      {
        page: "webhooks",
        title: "Webhooks",
        about: "Events of the workspace, sent to your server.",
        paths: ["/webhooks", "/webhook-deliveries"],
      },
      {
        page: "logs",
        title: "Logs",
        about: "What came in from advertisers and pages, and who changed what.",
        paths: ["/postback-log", "/audit-log", "/changes"],
      },
      {
        page: "attention",
        title: "What waits",
        about: "Numbers of what waits for a decision of the staff.",
        paths: ["/attention"],
      },
    ],
  },
  {
    title: "Files",
    resources: [
      {
        page: "imports",
        title: "Imports",
        about:
          "Files of offers, affiliates or advertisers, which are checked and imported row by row.",
        paths: ["/imports"],
      },
    ],
  },
  {
    title: "Own account",
    resources: [
      {
        page: "me",
        title: "Own account",
        about: "What the key in use belongs to: profile, keys, token and calls of the account.",
        paths: ["/me"],
      },
      {
        page: "saved-views",
        title: "Saved views",
        about: "Reports and lists with their settings, under a name.",
        paths: ["/saved-views"],
      },
      {
        page: "sessions",
        title: "Sign-in and sessions",
        about: "How people sign in with a browser. Programs use keys.",
        paths: ["/sign-in", "/sign-out", "/session", "/sessions", "/one-time-links"],
      },
      {
        page: "sign-up",
        title: "Sign-up",
        about: "The public form by which people ask to become partners of a workspace.",
        paths: ["/signup"],
      },
      {
        page: "person",
        title: "Own person",
        about: "Name, password, second factor and passkeys of the person who has signed in.",
        paths: ["/person"],
      },
    ],
  },
  {
    title: "Workspace",
    resources: [
      {
        page: "workspace",
        title: "Workspace",
        about: "Settings that apply to everything in the workspace.",
        paths: ["/workspace"],
      },
      {
        page: "keys",
        title: "API keys",
        about: "Keys of programs, with role and permissions.",
        paths: ["/keys"],
      },
      {
        page: "users",
        title: "Users",
        about: "Managers of partners and advertisers.",
        paths: ["/users"],
      },
      {
        page: "members",
        title: "Members and invitations",
        about:
          "People who sign in to the workspace, with their roles, and links by which others join.",
        paths: ["/members", "/invitations"],
      },
      {
        page: "system",
        title: "System",
        about: "The state of the installation and its workspaces, for the people who run it.",
        paths: ["/system", "/workspaces"],
      },
      {
        page: "erasures",
        title: "Erasures",
        about: "Erases the data of one visitor.",
        paths: ["/erasures"],
      },
      {
        page: "documents",
        title: "This description",
        about: "The API describes itself.",
        paths: ["/openapi.json", "/docs"],
      },
    ],
  },
];

/** The page with the longest beginning of the operation's path. Undefined if there is none. */
export function resourceOf(path: string): ReferenceResource | undefined {
  const places = REFERENCE_GROUPS.flatMap(({ resources }) => resources).flatMap((resource) =>
    resource.paths.map((beginning) => ({ resource, beginning })),
  );
  return places
    .filter(({ beginning }) => path === beginning || path.startsWith(`${beginning}/`))
    .toSorted((a, b) => b.beginning.length - a.beginning.length)[0]?.resource;
}
