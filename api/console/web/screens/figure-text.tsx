import type { ReactElement } from "react";
import type { Metric, ReportRow } from "../client/reports.ts";
import { exact, formatFigure, NOT_DEFINED } from "../format/figure.ts";
import { heightOf } from "../plots/pixels.ts";
import type { OtherMoney } from "./other-money.ts";
import { type Currencies, whyAbsent } from "./why-absent.ts";

/** A figure as text, and what its title says. */
export type FigureWords = {
  readonly text: string;
  readonly title: string | undefined;
  /** Why it is not shown; for screen readers it is text. */
  readonly why: string | undefined;
  /** Whether the text is the value in the currency of the report, so that a change of it means something. */
  readonly isOwn: boolean;
};

/**
 * Money that is not in the sum is shown in its own currency instead of a zero, and beside a sum in its title. `others` are the same figures
 * in the other currencies, undefined where they are not known.
 */
export function figureWords(
  metric: Metric,
  row: ReportRow | undefined,
  currencies: Currencies,
  others: OtherMoney | undefined,
): FigureWords {
  const { name, kind } = metric;
  const { shown } = currencies;
  const why = whyAbsent(metric, row, currencies);
  if (why !== undefined) return { text: NOT_DEFINED, title: why, why, isOwn: false };
  const value = row?.[name];
  const text = formatFigure(value, kind, shown);
  const title = exact(value, kind, shown);
  const alone: FigureWords = { text, title, why: undefined, isOwn: true };
  return kind === "money" && currencies.others.length > 0 && value !== undefined
    ? besideOthers(alone, { name, isNothing: (heightOf(value) ?? 0) === 0, currencies, others })
    : alone;
}

function besideOthers(
  own: FigureWords,
  {
    name,
    isNothing,
    currencies: { shown, others: left },
    others,
  }: {
    readonly name: string;
    readonly isNothing: boolean;
    readonly currencies: Currencies;
    readonly others: OtherMoney | undefined;
  },
): FigureWords {
  const list = [...(others ?? [])]
    .filter(([, figures]) => (heightOf(figures[name]) ?? 0) !== 0)
    .map(([currency, figures]) => formatFigure(figures[name], "money", currency))
    .join(" · ");
  if (!isNothing)
    return list === "" ? own : { ...own, title: `${own.title ?? own.text}, without ${list}` };
  if (list !== "")
    return { ...own, text: list, title: `Not in the total in ${shown}`, isOwn: false };
  if (others !== undefined) return own;
  const unknown = `Money in ${left.join(", ")} is not in this sum`;
  return { text: NOT_DEFINED, title: unknown, why: unknown, isOwn: false };
}

/** Why a figure is not shown, for people who do not see the title. */
export function Why({ words: { why } }: { readonly words: FigureWords }): ReactElement | null {
  return why === undefined ? null : <span className="unseen"> ({why})</span>;
}
