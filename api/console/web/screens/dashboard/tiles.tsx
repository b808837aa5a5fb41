import type { ReactElement } from "react";
import { type Period, periodParams } from "../../address/period.ts";
import { type Metric, type ReportAnswer, useReport } from "../../client/reports.ts";
import { useRoleFigures } from "../../figures/role-figures.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { Against, comparedFigure } from "../against.tsx";
import { rangesWords, rangeWords } from "../charts/range-words.ts";
import { STEP_METRICS } from "../charts/steps.tsx";
import { figureWords, Why } from "../figure-text.tsx";
import { MoneyNote } from "../money-note.tsx";
import { type OtherMoney, useOtherMoney } from "../other-money.ts";

/** Of two rows of tiles and the line below them. */
const HEIGHT = 228;
const NO_DIMENSION: readonly string[] = [];

type TilesProps = {
  readonly metrics: readonly Metric[];
  readonly period: Period;
  readonly picked: string;
  readonly onPick: (name: string) => void;
  readonly onChange: (period: Period) => void;
};

/** The figures of the period, each with its change and with the figure that it is compared with. */
export function Tiles(props: TilesProps): ReactElement {
  const membership = useMembership();
  const { tiles } = useRoleFigures();
  const report = useReport(membership, totalsQuery(tiles, props.period));
  if (report.data === undefined && !report.isError) return <WaitingTiles {...props} />;
  return (
    <Awaited asked={report} height={HEIGHT}>
      {(answer) => <ReadTiles {...props} answer={answer} isUpdating={report.isPlaceholderData} />}
    </Awaited>
  );
}

/** The frames of the tiles, so that nothing moves when the figures come. */
export function WaitingTiles({
  metrics,
}: {
  readonly metrics: readonly Pick<Metric, "name" | "label">[];
}): ReactElement {
  return (
    <>
      <div className="tiles">
        {metrics.map(({ name, label }) => (
          <div key={name} className="tile">
            <span className="name">{label === "" ? "\u00a0" : label}</span>
            <span className="value skeleton">{"\u00a0"}</span>
            <span className="against">{"\u00a0"}</span>
          </div>
        ))}
      </div>
      <div className="tiles-note">{"\u00a0"}</div>
    </>
  );
}

function ReadTiles({
  metrics,
  period,
  picked,
  onPick,
  onChange,
  answer,
  isUpdating,
}: TilesProps & { readonly answer: ReportAnswer; readonly isUpdating: boolean }): ReactElement {
  const { other_currencies: others, totals } = answer;
  const moneyOf = useOtherMoney({
    query: periodParams(period),
    groupBy: NO_DIMENSION,
    metrics: metrics.filter(({ kind }) => kind === "money").map(({ name }) => name),
    others: period.isConverted ? NO_DIMENSION : others,
  });
  const money = moneyOf(totals);
  return (
    <>
      <div className={isUpdating ? "tiles is-updating" : "tiles"}>
        {metrics.map((metric) => (
          <button
            key={metric.name}
            type="button"
            className="tile"
            aria-pressed={metric.name === picked}
            onClick={() => onPick(metric.name)}
          >
            <TileWords metric={metric} answer={answer} money={money} />
          </button>
        ))}
      </div>
      <div className="tiles-note muted">
        <span>{rangesWords(answer)}</span>
        <MoneyNote answer={answer} period={period} onChange={onChange} />
      </div>
    </>
  );
}

function TileWords({
  metric,
  answer: { totals, currency, other_currencies: others, range, compared_range: compared },
  money,
}: {
  readonly metric: Metric;
  readonly answer: ReportAnswer;
  readonly money: OtherMoney | undefined;
}): ReactElement {
  const { label } = metric;
  const words = figureWords(metric, totals, { shown: currency, others }, money);
  const before = words.isOwn
    ? comparedFigure(metric, { row: totals, totals, currency })
    : undefined;
  const both =
    before === undefined || compared === undefined
      ? undefined
      : `${rangeWords(range)}: ${words.title ?? words.text} · previous ${rangeWords(compared)}: ${before}`;
  return (
    <>
      <span className="name">{label}</span>
      <span className="value" title={both ?? words.title}>
        {words.text}
        <Why words={words} />
      </span>
      <span className="against" title={both}>
        {before === undefined ? "\u00a0" : <Against metric={metric} row={totals} before={before} />}
      </span>
    </>
  );
}

/** What {@link Tiles} and the funnel below ask for, in one report. */
export function totalsQuery(tiles: readonly string[], period: Period): Record<string, string> {
  const names = new Set([...tiles, ...STEP_METRICS]);
  return { ...periodParams(period), metrics: [...names].join(",") };
}
