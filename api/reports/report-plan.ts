import type { Comparison } from "./comparison.ts";
import type { ReportRequest } from "./report-request.ts";
import type { ReportScope } from "./report-scope.ts";

/** The value of one unit of a currency on a day, in the currency of the report. Equal indexes of the lists belong together. */
export type DayRates = {
  readonly currencies: readonly string[];
  /** `YYYY-MM-DD` */
  readonly dates: readonly string[];
  /** Whole numbers as text: the rate is numerator / denominator. */
  readonly numerators: readonly string[];
  readonly denominators: readonly string[];
};

/** The account manager of each partner. Only Postgres has it, not ClickHouse. */
export type Managers = {
  readonly affiliateIds: readonly number[];
  readonly managerIds: readonly number[];
};

/** The offers in the currency of the report, or all others: whichever are fewer. Only Postgres knows them, not ClickHouse. */
export type HomeOffers = { readonly ids: readonly number[]; readonly areHome: boolean };

/** All that a statement is made of. */
export type ReportPlan = Pick<
  ReportRequest,
  "range" | "groupBy" | "metrics" | "sort" | "filters" | "currency" | "dateBasis"
> & {
  readonly scope: ReportScope;
  readonly comparison?: Comparison | undefined;
  /** Required when `manager` is grouped or filtered by. */
  readonly managers: Managers | undefined;
  /** Undefined if all offers have the currency of the report, or if the report has no money per unit. */
  readonly homeOffers?: HomeOffers | undefined;
  /** Exchange rates for the ad costs in range. Undefined if there are none, or none for this caller: then the statement reads no costs. */
  readonly costRates: DayRates | undefined;
  /** Exchange rates for money in other currencies, which is then converted (N98). Undefined: it is left out. */
  readonly moneyRates?: DayRates | undefined;
  /** Whether clicks and impressions are so few that projections are not looked at. */
  readonly hasFewRows?: boolean;
  /** Number of rows to answer, and to skip before them. */
  readonly limit: number;
  readonly offset: number;
};

/** Columns of an answer: `d0`… are the dimensions, `others` the other currencies with money. */
export const DIMENSION_COLUMN = "d";
