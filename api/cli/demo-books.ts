/** What the demo's books hold, beside the conversions of its traffic. */

type Entry = {
  readonly partner: string;
  readonly currency: string;
  readonly amount: string;
  readonly kind: "opening" | "bonus" | "deduction" | "bounty";
  /** `{month}` stands for the month, such as 2026-10. */
  readonly reason: string;
};

const EARNED = "Conversions of {month}, as the books before had them";

/** A partner's earnings of a month, by currency. */
function earned(partner: string, amounts: Readonly<Record<string, string>>): Entry[] {
  return Object.entries(amounts).map(([currency, amount]) => ({
    partner,
    currency,
    amount,
    kind: "opening",
    reason: EARNED,
  }));
}

/**
 * By month, counted back from the present one. The amounts have fractions of a coin, and some stay below the partner's
 * minimum: both are carried.
 */
export const DEMO_BOOKS: readonly { readonly monthsAgo: number; readonly entries: Entry[] }[] = [
  {
    monthsAgo: 2,
    entries: [
      ...earned("DEMOANNA", { USD: "1240.505", EUR: "318.2" }),
      ...earned("DEMOBOB", { USD: "486.75" }),
      ...earned("DEMOCLEO", { USD: "92.4", GBP: "64.125" }),
      ...earned("DEMODANA", { EUR: "147.6" }),
      ...earned("DEMOEMIL", { USD: "21.3" }),
    ],
  },
  {
    monthsAgo: 1,
    entries: [
      ...earned("DEMOANNA", { USD: "1388.25", EUR: "402.355" }),
      ...earned("DEMOBOB", { USD: "512", EUR: "88.4" }),
      ...earned("DEMOCLEO", { GBP: "71.5" }),
      ...earned("DEMODANA", { EUR: "163.2" }),
      ...earned("DEMOEMIL", { USD: "18.9" }),
      {
        partner: "DEMOANNA",
        currency: "USD",
        amount: "100",
        kind: "bonus",
        reason: "Best partner of {month}",
      },
      {
        partner: "DEMOBOB",
        currency: "USD",
        amount: "-36",
        kind: "deduction",
        reason: "Three orders of {month} that customers sent back",
      },
    ],
  },
  {
    monthsAgo: 0,
    entries: [
      {
        partner: "DEMOANNA",
        currency: "USD",
        amount: "25",
        kind: "bonus",
        reason: "A place in the newsletter of {month}",
      },
      {
        partner: "DEMOCLEO",
        currency: "GBP",
        amount: "15",
        kind: "bounty",
        reason: "First partner with traffic from Ireland in {month}",
      },
    ],
  },
];

/** Statements in this currency wait for somebody's approval. */
export const DRAFT_CURRENCY = "GBP";
/** The older month of this currency is paid. */
export const PAID_CURRENCY = "USD";
/** Both months of this currency are in a run that is open, where the partner without payment details is held. */
export const OPEN_CURRENCY = "EUR";

export const DEMO_ISSUER = {
  name: "Demo Network Ltd",
  address: "1 Example Street\n1011 AB Amsterdam",
  iban: "NL91ABNA0417164300",
};
