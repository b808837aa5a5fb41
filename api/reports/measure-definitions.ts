import type { ReportRole } from "./report-scope.ts";

/** A ratio is stored in millionths (G72). */
export const RATIO_SCALE = 1_000_000;

/** Column of a statement: how many groups of rows have earnings that could not be converted; 0 if the report does not convert. */
export const FOREIGN_MONEY = "foreign_money";

/**
 * Columns of a statement: how many of the clicks, impressions and approved conversions belong to offers in the currency of the report. Money per
 * unit is divided by these counts, because it has no money of the others (G237). With conversion they count all.
 */
export const HOME_SUMS = ["home_clicks", "home_impressions", "home_approved"] as const;

/** Begins the name of a sum of the period that a report is compared with. */
export const PREVIOUS = "previous_";

export type Measure = {
  readonly name: string;
  readonly label: string;
  /** `count` is whole · `money` in ten-thousandths · `ratio` in millionths, rounded half away from zero (G72). */
  readonly kind: "count" | "money" | "ratio";
  /** True if the metric is a quotient, which is null for a zero denominator. */
  readonly isQuotient: boolean;
  /** What it is computed from. */
  readonly fraction: Fraction;
  /** The same as one SQL expression over the columns of {@link SUMS}. They and the result are integers. */
  readonly sql: string;
};

/** `of * scale / by`, where `of` and `by` are SQL over sums. A plain sum is divided by {@link WHOLE}. */
export type Fraction = {
  readonly of: string;
  readonly by: string;
  readonly scale: number;
  /** Null where money without a rate was left out of a conversion: a part of the money over all of the clicks would look like a poor result. */
  readonly isSeparate: boolean;
};

/** Which time dates what a metric counts. `conversion`: by `date_basis`, the time of the conversion or of its click. */
type DateBasis = "click" | "impression" | "conversion" | "cost";

/** What a metric means, for people (N100). */
type MeasureMeaning = {
  /** One sentence. */
  readonly definition: string;
  /** Over names of metrics; "" for a plain count or sum. */
  readonly formula: string;
  /** The states of conversions that it counts; empty if it counts none. */
  readonly countsStatuses: readonly string[];
  readonly dateBasis: readonly DateBasis[];
  /** False: only when it is named. */
  readonly isDefault: boolean;
};

export type Definition = Omit<Measure, "fraction" | "sql"> &
  MeasureMeaning & {
    readonly hiddenFrom: readonly ReportRole[];
    readonly fraction: Fraction | ((role: ReportRole) => Fraction);
    /** For roles that must not read the names in `formula`. */
    readonly formulaFor?: (role: ReportRole) => string;
  };

const STAFF_ONLY = ["partner", "advertiser"] as const;
const THOUSAND = 1_000;
/** The divisor of a plain sum. */
export const WHOLE = "1";
const PROFIT = "(revenue - payout)";
/** Conversions whose kind or reason was judged as a repetition are no sales of their own. */
const GROSS = "(approved + pending + rejected - duplicates)";

const OF_HOME = "of offers in the currency of the report";
const OF_CLICKS = { dateBasis: ["click"] } as const;
const OF_IMPRESSIONS = { dateBasis: ["impression"] } as const;
const APPROVED = { countsStatuses: ["approved"], dateBasis: ["conversion"] } as const;
const PENDING = { countsStatuses: ["pending"], dateBasis: ["conversion"] } as const;
const REJECTED = { countsStatuses: ["rejected"], dateBasis: ["conversion"] } as const;
const EVERY_STATUS = {
  countsStatuses: ["approved", "pending", "rejected"],
  dateBasis: ["conversion"],
} as const;
/** Clicks can pay too: offers with the payout type `cpc`. */
const EARNED = { countsStatuses: ["approved"], dateBasis: ["click", "conversion"] } as const;

/** Every metric, in documented order. */
export const DEFINITIONS: readonly Definition[] = [
  count("impressions", "Impressions", {
    ...OF_IMPRESSIONS,
    sql: "impressions",
    definition: "Views of an advertisement, as its impression pixel reported them.",
  }),
  count("clicks", "Clicks", {
    ...OF_CLICKS,
    sql: "clicks",
    definition:
      "All clicks on tracking links, including repeats and bots; blocked clicks are left out.",
  }),
  count("unique_clicks", "Unique clicks", {
    ...OF_CLICKS,
    sql: "unique_clicks",
    definition:
      "Clicks of visitors who had not clicked the same offer within its unique_click_hours before.",
  }),
  {
    ...count("bot_clicks", "Bot clicks", {
      ...OF_CLICKS,
      sql: "bot_clicks",
      definition:
        "Clicks of programs that say so, or whose address is known for them. They are part of clicks.",
    }),
    hiddenFrom: STAFF_ONLY,
  },
  ratio("ctr", "CTR", {
    of: "clicks",
    by: "impressions",
    dateBasis: ["click", "impression"],
    formula: "clicks / impressions",
    definition: "Clicks for each impression.",
  }),
  count("conversions", "Conversions", {
    ...APPROVED,
    sql: "approved",
    definition: "Approved conversions of every event, in every currency.",
  }),
  count("pending_conversions", "Pending conversions", {
    ...PENDING,
    sql: "pending",
    definition: "Conversions that wait for a decision or for the end of their hold.",
  }),
  count("rejected_conversions", "Rejected conversions", {
    ...REJECTED,
    sql: "rejected",
    definition:
      "Conversions that were refused or taken back. Group by conversion_reason to see why.",
  }),
  ratio("cvr", "CVR", {
    of: "approved",
    by: "unique_clicks",
    countsStatuses: ["approved"],
    dateBasis: ["conversion", "click"],
    formula: "conversions / unique_clicks",
    definition: "Approved conversions for each unique click.",
  }),
  {
    ...money("revenue", "Revenue", {
      ...EARNED,
      sql: "revenue",
      definition: "What the advertiser pays for approved conversions and for paid clicks.",
    }),
    hiddenFrom: ["partner"],
  },
  {
    ...money("payout", "Payout", {
      ...EARNED,
      sql: "payout",
      definition: "What the partner earns by approved conversions and by paid clicks.",
    }),
    hiddenFrom: ["advertiser"],
  },
  {
    ...money("profit", "Profit", {
      ...EARNED,
      sql: PROFIT,
      formula: "revenue - payout",
      definition: "What remains of the revenue after payouts.",
    }),
    hiddenFrom: STAFF_ONLY,
  },
  {
    ...ratio("margin", "Margin", {
      ...EARNED,
      of: PROFIT,
      by: "revenue",
      formula: "profit / revenue",
      definition: "The share of the revenue that remains after payouts.",
    }),
    hiddenFrom: STAFF_ONLY,
  },
  // Computed from the payout, the EPC would reveal the hidden payout to an advertiser (G70).
  {
    ...perUnit("epc", "EPC", {
      ...EARNED,
      of: "payout",
      by: "home_clicks",
      formula: "payout / clicks (for advertisers revenue / clicks)",
      definition: `Earnings for each click ${OF_HOME}.`,
    }),
    fraction: (role) => perUnitOf(earnedBy(role), "home_clicks", 1),
    formulaFor: (role) => `${earnedBy(role)} / clicks`,
  },
  {
    ...perUnit("rpc", "RPC", {
      ...EARNED,
      of: "revenue",
      by: "home_clicks",
      formula: "revenue / clicks",
      definition: `Revenue for each click ${OF_HOME}.`,
    }),
    hiddenFrom: STAFF_ONLY,
  },
  {
    ...perUnit("cpc", "CPC", {
      ...EARNED,
      of: "payout",
      by: "home_clicks",
      formula: "payout / clicks",
      definition: `What a click ${OF_HOME} costs in payouts.`,
    }),
    hiddenFrom: STAFF_ONLY,
  },
  perUnit("avg_sale_amount", "Average sale amount", {
    ...APPROVED,
    of: "sale_amount",
    by: "home_approved",
    formula: "sale_amount / conversions",
    definition: `The sale amount of an approved conversion ${OF_HOME}, on average.`,
  }),
  money("sale_amount", "Sale amount", {
    ...APPROVED,
    sql: "sale_amount",
    definition: "What buyers paid, as advertisers reported it for approved conversions.",
  }),
  {
    ...money("ad_cost", "Ad cost", {
      dateBasis: ["cost"],
      sql: "ad_cost",
      definition:
        "Media spend that was uploaded, converted at the reference rate of its day into the currency of the report.",
    }),
    hiddenFrom: STAFF_ONLY,
  },
  {
    ...ratio("roas", "ROAS", {
      countsStatuses: ["approved"],
      dateBasis: ["conversion", "click", "cost"],
      of: "revenue",
      by: "ad_cost",
      formula: "revenue / ad_cost",
      definition: "Revenue for each unit of money spent on advertising.",
    }),
    hiddenFrom: STAFF_ONLY,
  },
  {
    ...money("net_profit", "Net profit", {
      countsStatuses: ["approved"],
      dateBasis: ["conversion", "click", "cost"],
      sql: `(${PROFIT} - ad_cost)`,
      formula: "revenue - payout - ad_cost",
      definition: "What remains of the revenue after payouts and media spend.",
    }),
    hiddenFrom: STAFF_ONLY,
  },
  ...[
    count("gross_conversions", "Gross conversions", {
      ...EVERY_STATUS,
      sql: GROSS,
      formula: "conversions + pending_conversions + rejected_conversions - duplicates",
      definition: "All reported conversions except repetitions of one that was already there.",
    }),
    count("duplicates", "Duplicates", {
      ...EVERY_STATUS,
      sql: "duplicates",
      definition: "Conversions that repeat another one of the same click or transaction.",
    }),
    ratio("approval_rate", "Approval rate", {
      ...EVERY_STATUS,
      of: "approved",
      by: "(approved + rejected)",
      formula: "conversions / (conversions + rejected_conversions)",
      definition: "The share of decided conversions that were approved.",
    }),
    {
      ...money("pending_revenue", "Pending revenue", {
        ...PENDING,
        sql: "pending_revenue",
        definition: "Revenue of pending conversions, if all of them are approved.",
      }),
      hiddenFrom: ["partner"] as const,
    },
    {
      ...money("pending_payout", "Pending payout", {
        ...PENDING,
        sql: "pending_payout",
        definition: "Payout of pending conversions, if all of them are approved.",
      }),
      hiddenFrom: ["advertiser"] as const,
    },
    {
      ...money("rejected_revenue", "Rejected revenue", {
        ...REJECTED,
        sql: "rejected_revenue",
        definition: "Revenue that rejected conversions would have had.",
      }),
      hiddenFrom: ["partner"] as const,
    },
    {
      ...money("rejected_payout", "Rejected payout", {
        ...REJECTED,
        sql: "rejected_payout",
        definition: "Payout that rejected conversions would have had.",
      }),
      hiddenFrom: ["advertiser"] as const,
    },
    {
      ...perUnit("ecpm", "eCPM", {
        countsStatuses: ["approved"],
        dateBasis: ["conversion", "click", "impression"],
        of: "payout",
        by: "home_impressions",
        formula: "1000 * payout / impressions (for advertisers 1000 * revenue / impressions)",
        definition: `Earnings for each thousand impressions ${OF_HOME}.`,
      }),
      fraction: (role: ReportRole) => perUnitOf(earnedBy(role), "home_impressions", THOUSAND),
      formulaFor: (role: ReportRole) => `1000 * ${earnedBy(role)} / impressions`,
    },
  ].map((one) => ({ ...one, isDefault: false })),
];

/** What a click earns: for an advertiser, whom the payout is hidden from, what it pays. */
function earnedBy(role: ReportRole): "payout" | "revenue" {
  return role === "advertiser" ? "revenue" : "payout";
}

type Meant = Pick<MeasureMeaning, "definition" | "dateBasis"> &
  Partial<Pick<MeasureMeaning, "formula" | "countsStatuses">>;

function defined(
  name: string,
  label: string,
  {
    fraction,
    definition,
    dateBasis,
    formula = "",
    countsStatuses = [],
  }: Meant & { readonly fraction: Fraction },
): Omit<Definition, "kind"> {
  return {
    name,
    label,
    isQuotient: false,
    hiddenFrom: [],
    fraction,
    definition,
    formula,
    countsStatuses,
    dateBasis,
    isDefault: true,
  };
}

function count(name: string, label: string, meant: Meant & { readonly sql: string }): Definition {
  return { ...defined(name, label, { ...meant, fraction: sumOf(meant.sql) }), kind: "count" };
}

function money(name: string, label: string, meant: Meant & { readonly sql: string }): Definition {
  return { ...defined(name, label, { ...meant, fraction: sumOf(meant.sql) }), kind: "money" };
}

type Quotient = Meant & { readonly of: string; readonly by: string };

/** Money per unit. */
function perUnit(name: string, label: string, meant: Quotient): Definition {
  const fraction = perUnitOf(meant.of, meant.by, 1);
  return { ...defined(name, label, { ...meant, fraction }), kind: "money", isQuotient: true };
}

function ratio(name: string, label: string, meant: Quotient): Definition {
  const fraction = { of: meant.of, by: meant.by, scale: RATIO_SCALE, isSeparate: false };
  return { ...defined(name, label, { ...meant, fraction }), kind: "ratio", isQuotient: true };
}

function sumOf(sql: string): Fraction {
  return { of: sql, by: WHOLE, scale: 1, isSeparate: false };
}

function perUnitOf(of: string, by: string, scale: number): Fraction {
  return { of, by, scale, isSeparate: true };
}

/** A fraction as SQL, of one metric. */
export function sqlOf({ of, by, scale, isSeparate }: Fraction): string {
  if (by === WHOLE) return of;
  const divided = quotient(of, by, String(2 * scale));
  return isSeparate ? `if(${FOREIGN_MONEY} != 0, null, ${divided})` : divided;
}

/** `of * factor / by / 2` in whole numbers, rounded half away from zero; null when `by` is 0. */
export function quotient(of: string, by: string, factor: string): string {
  const magnitude = `intDivOrZero(abs(${of}) * ${factor} + abs(${by}), abs(${by}) * 2)`;
  return `if(${by} = 0, null, ${magnitude} * sign(${of}) * sign(${by}))`;
}
