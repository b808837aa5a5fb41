import { refusalOfAccess } from "../access/authorize.ts";
import type { Principal } from "../operation/principal.ts";
import { reportScope } from "../reports/caller.ts";
import { dimensionNames } from "../reports/dimensions.ts";
import { getReport } from "../reports/get-report.ts";
import { measuresOf } from "../reports/measures.ts";
import { FILTER_OPERATORS } from "../reports/report-filters.ts";
import type { ReportRole } from "../reports/report-scope.ts";
import { TOOLS } from "./tools.ts";

/** What an assistant needs before its first call: whose figures it reads, and how to turn a question into one report. */
export function instructionsFor(principal: Principal): string {
  const { name, currency, timezone } = principal.workspace;
  const closed = TOOLS.filter(
    ({ operation }) => refusalOfAccess(principal, operation.access) !== undefined,
  );
  const mayReport = refusalOfAccess(principal, getReport.access) === undefined;
  return [
    `Affiliate tracking of the workspace ${JSON.stringify(name)}, read-only. ${scopeText(principal)}`,
    `Money is a decimal string; the currency of the workspace is ${currency}. Ratios are fractions. Times in answers are UTC; days and presets are those of ${timezone} unless tz says otherwise.`,
    ...(closed.length === 0
      ? []
      : [`Not open to this key: ${closed.map((tool) => tool.name).join(", ")}.`]),
    ...(mayReport ? reportText(reportScope(principal).role) : []),
  ].join("\n");
}

function scopeText(principal: Principal): string {
  switch (principal.role) {
    case "admin":
    case "analyst":
      return `The key has the role ${principal.role} and sees the whole workspace.`;
    case "partner":
      return `The key has the role partner and sees the traffic of the partner ${JSON.stringify(principal.affiliate.name)}; payout is what the partner earns.`;
    case "advertiser":
      return `The key has the role advertiser and sees the offers of the advertiser ${JSON.stringify(principal.advertiser.name)}; revenue is what the advertiser pays.`;
  }
}

function reportText(role: ReportRole): string[] {
  const money = role === "partner" ? ["payout"] : ["revenue"];
  const example = {
    preset: "last_week",
    group_by: ["country"],
    metrics: ["clicks", "unique_clicks", "conversions", "cvr", ...money],
    params: { filters: "offer:in:12" },
  };
  return [
    "Questions about numbers are one call of run_report.",
    `Dimensions for group_by (at most 3), sort and filters: ${dimensionNames(role).join(", ")}.`,
    `Metrics: ${measuresOf(role)
      .map(({ name }) => name)
      .join(", ")}.`,
    `Filters are terms dimension:operator:value1|value2, separated by commas, in params.filters. Operators: ${FILTER_OPERATORS.join(", ")}. Offers, partners and other records are named by id.`,
    `Example: "How did offer 12 do last week, by country?" is run_report ${JSON.stringify(example)}. If you know only the name of an offer: group_by ["offer","country"] without the filter and read the rows with that offer_label, or list_offers with q for its id.`,
  ];
}
