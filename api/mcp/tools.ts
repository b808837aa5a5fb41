import { PRESETS } from "../../schemas/time/presets.ts";
import { affiliates } from "../catalog/affiliates/affiliates.ts";
import { getOffer } from "../catalog/offers/get-offer.ts";
import { listOffers } from "../catalog/offers/list-offers.ts";
import { getTrackingLink } from "../catalog/tracking-links/get-tracking-link.ts";
import type { Operation } from "../operation/operation.ts";
import { dimensionNames } from "../reports/dimensions.ts";
import { getReport } from "../reports/get-report.ts";
import { measureNames } from "../reports/measures.ts";
import type { ReportRole } from "../reports/report-scope.ts";
import { listClicks } from "../traffic/clicks/list-clicks.ts";
import { getConversion } from "../traffic/conversions/get-conversion.ts";
import { listConversions } from "../traffic/conversions/list-conversions.ts";
import { getMe } from "../workspace/account/get-me.ts";

/**
 * `text` is sent as it is · `reference` is an id (also as a number) or a code · `limit` is a whole number from 1 · `list` is sent
 * as words separated by commas.
 */
export type ToolArgument = {
  readonly isRequired?: true;
  /** Replaces the operation's description of the parameter. */
  readonly description?: string;
} & (
  | { readonly kind: "text"; readonly words?: readonly string[] }
  | { readonly kind: "reference" }
  | { readonly kind: "limit"; readonly max: number; readonly defaultValue: number }
  | { readonly kind: "list"; readonly words: (role: ReportRole) => readonly string[] }
);

/** An operation as assistants call it. Its arguments are parameters of the path and query with the same names. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operation: Operation;
  readonly arguments: Readonly<Record<string, ToolArgument>>;
  /** Whether `params` accepts the other query parameters. */
  readonly acceptsParams: boolean;
  /** Query parameters that the tool does not accept. */
  readonly withheld?: readonly string[];
};

const text: ToolArgument = { kind: "text" };
const range = {
  from: text,
  to: text,
  preset: { kind: "text", words: PRESETS },
  tz: text,
} as const;
const paged = { cursor: text } as const;
const listed = {
  q: text,
  status: text,
  limit: { kind: "limit", max: 200, defaultValue: 50 },
  ...paged,
} as const;

/** The ten tools, in the order of `tools/list`. All of them are read-only. */
export const TOOLS: readonly Tool[] = [
  {
    name: "whoami",
    title: "This key",
    description:
      "The role of this key, its workspace with currency and time zone, its account, its permissions and its remaining budget.",
    operation: getMe,
    arguments: {},
    acceptsParams: false,
  },
  {
    name: "run_report",
    title: "Run a report",
    description:
      "Figures over clicks, impressions and conversions for a range of days, grouped by up to three dimensions, with totals over the " +
      "whole report. Answers in one call how offers, partners, countries or days performed. Narrow it by params.filters, such as " +
      '{"filters": "offer:in:12,country:in:DE|AT"}. Without group_by there is one row. Money counts one currency only.',
    operation: getReport,
    arguments: {
      ...range,
      group_by: {
        kind: "list",
        words: dimensionNames,
        description:
          "At most 3 dimensions. Ids come with a readable name in `<dimension>_label`. Without dimensions there is one row for all",
      },
      metrics: {
        kind: "list",
        words: measureNames,
        description: "What to show; everything when left out. `conversions` are the approved ones",
      },
      sort: text,
      limit: { kind: "limit", max: 1_000, defaultValue: 1_000, description: "Rows to return" },
      currency: text,
    },
    acceptsParams: true,
    withheld: ["format", "bom"],
  },
  {
    name: "list_offers",
    title: "List offers",
    description:
      "Offers that this key may see, newest first. Use q to find the id of an offer by its name.",
    operation: listOffers,
    arguments: listed,
    acceptsParams: true,
  },
  {
    name: "get_offer",
    title: "One offer",
    description: "One offer with its events, terms, caps and targeting.",
    operation: getOffer,
    arguments: { id: { kind: "reference", isRequired: true } },
    acceptsParams: false,
  },
  {
    name: "list_affiliates",
    title: "List partners",
    description: "Partners (affiliates) of the workspace, newest first. Staff keys only.",
    operation: affiliates.list,
    arguments: listed,
    acceptsParams: true,
  },
  {
    name: "get_affiliate",
    title: "One partner",
    description: "One partner (affiliate). Staff keys only.",
    operation: affiliates.get,
    arguments: { id: { kind: "reference", isRequired: true } },
    acceptsParams: false,
  },
  {
    name: "list_conversions",
    title: "List conversions",
    description:
      "Single conversions by conversion time, newest first, the last 7 days unless a range is given, at most 400 days. " +
      "Numbers and sums come from run_report.",
    operation: listConversions,
    arguments: {
      ...range,
      status: text,
      event: text,
      click_id: text,
      limit: { kind: "limit", max: 500, defaultValue: 100 },
      ...paged,
    },
    acceptsParams: true,
    withheld: ["format", "bom"],
  },
  {
    name: "get_conversion",
    title: "One conversion",
    description: "One conversion by its id.",
    operation: getConversion,
    arguments: { id: { kind: "text", isRequired: true, description: "UUID" } },
    acceptsParams: false,
  },
  {
    name: "lookup_clicks",
    title: "Look up clicks",
    description:
      "Single clicks, newest first: one by click_id, those with an ad platform's id by gclid, gbraid or wbraid together with from " +
      "(at most 90 days), or the raw log of a range (today unless given, at most 93 days).",
    operation: listClicks,
    arguments: {
      click_id: text,
      gclid: text,
      gbraid: text,
      wbraid: text,
      ...range,
      limit: { kind: "limit", max: 1_000, defaultValue: 100 },
      ...paged,
    },
    acceptsParams: true,
    withheld: ["format", "bom"],
  },
  {
    name: "tracking_link",
    title: "Build a tracking link",
    description:
      "The link by which a partner sends visitors to an offer; nothing is stored. type=transparent returns a tracking template for an " +
      "ad platform. Warnings say why clicks would not reach the offer.",
    operation: getTrackingLink,
    arguments: {
      offer: { kind: "reference", isRequired: true },
      affiliate: { kind: "reference" },
      type: text,
      sub1: text,
      sub2: text,
    },
    acceptsParams: true,
  },
];

const BY_NAME: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));

export function findTool(name: string): Tool | undefined {
  return BY_NAME.get(name);
}
