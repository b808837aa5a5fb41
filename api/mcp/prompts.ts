import { PRESETS } from "../../schemas/time/presets.ts";
import { listBalances } from "../billing/ledger/list-balances.ts";
import { getEarnings } from "../billing/ledger/own-balances.ts";
import { getPayoutRun, listPayoutRuns } from "../billing/payouts/runs/run-operations.ts";
import { listOwnStatements, listStatements } from "../billing/statements/read-statements.ts";
import { getTrackingLink } from "../catalog/tracking-links/get-tracking-link.ts";
import type { Operation } from "../operation/operation.ts";
import { getReport } from "../reports/get-report.ts";
import type { ReportRole } from "../reports/report-scope.ts";
import { getConversion } from "../traffic/conversions/get-conversion.ts";
import { listConversions } from "../traffic/conversions/list-conversions.ts";

export type PromptArgument = {
  readonly name: string;
  readonly description: string;
  readonly isRequired?: true;
};

/** Values of the arguments that were given, already checked. */
export type PromptValues = Readonly<Record<string, string | undefined>>;

/** A question that people ask often, as a message for their assistant. It names tools that answer it. */
export type Prompt = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  /** What the tools and resources in the text run. A key that may not use one of them does not see the prompt. */
  readonly operations: readonly Operation[];
  /** Listed only while billing is on. */
  readonly needsBilling?: true;
  readonly text: (values: PromptValues, role: ReportRole) => string;
};

const PERIOD: PromptArgument = {
  name: "preset",
  description: `One of ${PRESETS.join(", ")}`,
};

/** The money that a role cares about, as the metric of reports. */
const MONEY: Readonly<Record<ReportRole, string>> = {
  staff: "revenue, payout and profit",
  partner: "payout",
  advertiser: "revenue (what you pay)",
};

const OWED = {
  name: "what_do_we_owe",
  arguments: [{ name: "currency", description: "ISO code of one currency; all if left out" }],
  needsBilling: true,
} satisfies Partial<Prompt>;

/** How an answer shows amounts of several currencies. */
const PER_CURRENCY =
  "Give each currency a section of its own, never add amounts of different currencies, and convert none. Pending is not owed yet: keep it out of " +
  "sums. A list has another page while next_cursor is not null: read it with cursor=<next_cursor> (at most 20 pages), and say so if you stopped " +
  "before the end.";

/** Staff and partners ask the same question about different resources. A key sees the prompt that it may use. */
const OWED_PROMPTS: readonly Prompt[] = [
  {
    ...OWED,
    title: "What do we owe?",
    description: "What partners are owed in each currency, by its stage, and what is due when",
    operations: [listBalances, listStatements, listPayoutRuns, getPayoutRun],
    text: ({ currency }) =>
      `What do we owe our partners${inCurrency(currency)}? Read the resource tracker://balances, tracker://statements once with status=draft, once with ` +
      "status=approved and once with status=in_payout, and tracker://payout-runs. Say for each currency what is pending, unbilled (with what was carried), " +
      "in statements (draft and approved_unpaid apart), in payout and paid, and name the partners with the largest amounts. Then say what is due when: " +
      "approved statements by due_on, overdue ones first, and runs without an end by execution_date. Read tracker://payout-runs/{id} of a run with held " +
      `lines, and give the reason of each. ${PER_CURRENCY}`,
  },
  {
    ...OWED,
    title: "What am I owed?",
    description: "What you have earned in each currency, by its stage, and what is due when",
    operations: [getEarnings, listOwnStatements],
    text: ({ currency }) =>
      `What am I owed${inCurrency(currency)}? Read the resources tracker://me/earnings and tracker://me/statements. Say for each currency what is pending, ` +
      "unbilled (with what was carried), in statements (draft and approved_unpaid apart), in payout and paid, and when the present period ends. Then say " +
      `what is due when: statements with the status approved or in_payout by due_on, each with its number. ${PER_CURRENCY}`,
  },
];

/** The questions that are asked most. */
export const PROMPTS: readonly Prompt[] = [
  {
    name: "period_summary",
    title: "How did we do?",
    description: "Clicks, conversions and money of a period against the period before it",
    arguments: [PERIOD],
    operations: [getReport],
    text: ({ preset = "yesterday" }, role) =>
      `How did we do in the period ${quoted(preset)}? Use run_report for it, once without group_by and once by date, and for the period of ` +
      `the same length before it. Show clicks, unique clicks, conversions, conversion rate and ${MONEY[role]}, each with its change in ` +
      "percent. Name the currency, say if amounts of other currencies are left out, and name the days that stand out.",
  },
  {
    name: "top_performers",
    title: "What performs best and worst?",
    description: "Ranks offers, countries or another dimension by money and conversion rate",
    arguments: [
      PERIOD,
      { name: "by", description: "A dimension of reports, such as offer, country or sub1" },
    ],
    operations: [getReport],
    text: ({ preset = "last7", by = "offer" }, role) =>
      `Rank the traffic of the period ${quoted(preset)} by ${quoted(by)}. Use run_report with that dimension, sorted by money (${MONEY[role]}). ` +
      "Show the ten best, then those with many clicks and few conversions. Use the labels in the answer, not ids. Say what share of the total " +
      "the ten best have.",
  },
  {
    name: "rejected_conversions",
    title: "Why were conversions rejected?",
    description: "Rejected and pending conversions of a period by reason, with examples",
    arguments: [PERIOD, { name: "offer", description: "Id or code of an offer; all if left out" }],
    operations: [listConversions],
    text: ({ preset = "last7", offer }) =>
      `Why were conversions rejected or held in the period ${quoted(preset)}${offer === undefined ? "" : ` for the offer ${quoted(offer)}`}? Use ` +
      "list_conversions with status rejected, then with status pending, following cursor while there are more (at most 5 pages). Count them by " +
      "status_reason, explain each reason in one sentence, and give one conversion id as an example of each.",
  },
  {
    name: "trace_conversion",
    title: "What happened to this conversion or click?",
    description: "Follows one click id, conversion id or order id from click to payout",
    arguments: [
      { name: "id", description: "Click id, conversion id or order id (txid)", isRequired: true },
    ],
    operations: [listConversions, getConversion],
    text: ({ id = "" }) =>
      `What happened to ${quoted(id)}? A text of 32 hexadecimal digits is a click: use lookup_clicks with click_id, and list_conversions with ` +
      "click_id. A UUID with hyphens is a conversion: use get_conversion. Anything else is the advertiser's order id: use list_conversions with " +
      'params {"adv_txid": …} and a range of 400 days. Tell the story in order of time: click, conversion, status with its reason, money. If ' +
      "nothing is found, say which look-ups were tried.",
  },
  {
    name: "working_link",
    title: "Give me a link that works",
    description: "Builds a tracking link, and says what would keep its clicks from being paid",
    arguments: [
      { name: "offer", description: "Id or code of the offer", isRequired: true },
      {
        name: "affiliate",
        description: "Id or code of the partner; keys of partners leave it out",
      },
    ],
    operations: [getTrackingLink],
    text: ({ offer = "", affiliate }) =>
      `Build a tracking link for the offer ${quoted(offer)}${affiliate === undefined ? "" : ` and the partner ${quoted(affiliate)}`} with ` +
      "tracking_link, and read the offer with get_offer. Show the link ready to copy, what it pays, its countries and devices, and every warning " +
      "in plain words with what to do about it.",
  },
  ...OWED_PROMPTS,
];

function inCurrency(currency: string | undefined): string {
  return currency === undefined ? "" : ` in the currency ${quoted(currency)}`;
}

/** Text that somebody gave stands in quotation marks, so that an assistant reads it as a value. */
function quoted(value: string): string {
  return JSON.stringify(value);
}
