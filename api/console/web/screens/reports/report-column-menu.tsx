import type { ReactElement } from "react";
import type { ReportAddress } from "../../address/report.ts";
import type { ReportFields } from "../../client/reports.ts";
import { ColumnMenu } from "../../records/column-menu.tsx";
import { moved } from "../../records/column-order.ts";
import { chosenMetrics } from "./chosen-metrics.ts";

/** Stands for the columns of the dimensions, which come first. */
const GROUP = "group";

/** The columns of a report in their order, to be moved or taken away. Others are chosen as metrics. */
export function ReportColumnMenu({
  report,
  fields,
  isChosen,
  onChange,
}: {
  /** With the metrics that are shown. */
  readonly report: ReportAddress;
  readonly fields: ReportFields;
  /** Whether the address names metrics. */
  readonly isChosen: boolean;
  readonly onChange: (to: Partial<ReportAddress>) => void;
}): ReactElement {
  const shown = chosenMetrics(fields, report);
  const names = shown.map(({ name }) => name);
  const labels = report.groupBy.map(
    (name) => fields.dimensions.find((one) => one.name === name)?.label ?? name,
  );
  const places = [GROUP, ...names].map((name) => ({ name, isShown: true }));
  const titles = {
    [GROUP]: labels.length === 0 ? "Total" : labels.join(", "),
    ...Object.fromEntries(shown.map(({ name, label }) => [name, label])),
  };
  return (
    <ColumnMenu
      choice={{
        places,
        titles,
        isChosen,
        error: null,
        toggle: (name) => onChange(without(report, name)),
        move: (name, by) => {
          const order = moved(places, name, by).map((place) => place.name);
          onChange({ metrics: order.filter((one) => one !== GROUP) });
        },
        reset: () => onChange({ metrics: [] }),
      }}
    />
  );
}

/** Without its last metric a report has the usual ones. A table is not sorted by what it does not show. */
function without({ metrics, sort }: ReportAddress, name: string): Partial<ReportAddress> {
  const left = metrics.filter((one) => one !== name);
  const isSorted = sort.replace(/^-/, "") === name;
  return { metrics: left, ...(isSorted && left[0] !== undefined ? { sort: `-${left[0]}` } : {}) };
}
