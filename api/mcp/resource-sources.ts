import { listBalances } from "../billing/ledger/list-balances.ts";
import { getEarnings } from "../billing/ledger/own-balances.ts";
import { getPayoutRun, listPayoutRuns } from "../billing/payouts/runs/run-operations.ts";
import {
  getOwnStatement,
  getStatement,
  listOwnStatements,
  listStatements,
} from "../billing/statements/read-statements.ts";
import type { Operation } from "../operation/operation.ts";
import { getTimeseries } from "../reports/get-timeseries.ts";
import { listDimensions, listMetrics } from "../reports/list-definitions.ts";

/** A GET operation that assistants read as a document. `tracker://<path>?<query>` has the parameters of REST. */
export type Source = {
  /** `{id}` stands for one part of an address. */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly operation: Operation;
  /** Query strings that are listed as documents of their own. */
  readonly listed: readonly { readonly query: string; readonly title: string }[];
  /** Query parameters of the operation that a document does not take. */
  readonly withheld?: readonly string[];
  /** Listed only while billing is on. */
  readonly needsBilling?: true;
};

/** Money of the staff and of partners, as REST answers it. Lists have pages: `cursor` is the `next_cursor` of the page before. */
const MONEY_SOURCES: readonly Source[] = [
  {
    path: "balances",
    title: "Balances",
    description:
      "What each partner is owed in each currency: pending, unbilled, in statements, in payout, paid. With kind=advertiser, what advertisers owe",
    operation: listBalances,
    listed: [{ query: "", title: "What each partner is owed" }],
    withheld: ["format", "bom"],
  },
  {
    path: "statements",
    title: "Statements",
    description: "What partners are owed for a period, and when it is due. Newest first",
    operation: listStatements,
    listed: [{ query: "", title: "Statements of partners" }],
  },
  {
    path: "statements/{id}",
    title: "A statement",
    description: "One statement with its lines",
    operation: getStatement,
    listed: [],
  },
  {
    path: "payout-runs",
    title: "Payout runs",
    description: "Runs that pay statements, with their totals. Newest first",
    operation: listPayoutRuns,
    listed: [{ query: "", title: "Payout runs" }],
  },
  {
    path: "payout-runs/{id}",
    title: "A payout run",
    description: "One run with its lines; held lines are apart, with the reason",
    operation: getPayoutRun,
    listed: [],
  },
  {
    path: "me/earnings",
    title: "Own earnings",
    description: "What the partner has earned and was paid, one object for each currency",
    operation: getEarnings,
    listed: [{ query: "", title: "What I have earned" }],
  },
  {
    path: "me/statements",
    title: "Own statements",
    description: "What the partner is owed for a period, and when it is due. Newest first",
    operation: listOwnStatements,
    listed: [{ query: "", title: "My statements" }],
  },
  {
    path: "me/statements/{id}",
    title: "An own statement",
    description: "One statement of the partner with its lines",
    operation: getOwnStatement,
    listed: [],
  },
];

export const SOURCES: readonly Source[] = [
  {
    path: "timeseries",
    title: "Time series",
    description:
      "Metrics by day or hour, without gaps. Takes the parameters of GET /reports/timeseries",
    operation: getTimeseries,
    listed: [
      { query: "?preset=last30", title: "The last 30 days, by day" },
      { query: "?preset=today&interval=hour", title: "Today, by hour" },
    ],
  },
  {
    path: "metrics",
    title: "Metrics",
    description: "Definition, formula and dating of every metric of reports",
    operation: listMetrics,
    listed: [{ query: "", title: "What each metric means" }],
  },
  {
    path: "dimensions",
    title: "Dimensions",
    description: "Definition of every dimension of reports, and what it divides",
    operation: listDimensions,
    listed: [{ query: "", title: "What each dimension means" }],
  },
  ...MONEY_SOURCES.map((source): Source => ({ ...source, needsBilling: true })),
];
