import type { ReactElement } from "react";
import { Link } from "wouter";
import { filterFor } from "../../address/filters.ts";
import { useReport } from "../../client/reports.ts";
import { useNamedFields } from "../../figures/use-named-fields.ts";
import { exact, formatFigure } from "../../format/figure.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";

const HEIGHT = 62;
const NAMES = ["payout", "revenue", "profit", "clicks", "conversions"];

type SumsProps = {
  readonly entity: "offer" | "affiliate" | "advertiser";
  readonly id: number;
  readonly currency: string;
  /** By what the report groups. */
  readonly groupBy: string;
};

/** Sums of the last 30 days of one record, in its currency. Each opens the report of the record. */
export function RecordSums(props: SumsProps): ReactElement | null {
  return mayDo(useMembership(), "reports.read") ? <Sums {...props} /> : null;
}

function Sums({ entity, id, currency, groupBy }: SumsProps): ReactElement {
  const membership = useMembership();
  const fields = useNamedFields();
  const period = { preset: "last30", currency, filters: filterFor(entity, id) };
  const report = useReport(membership, { ...period, metrics: NAMES.join(",") });
  const error = report.error ?? fields.error;
  if (error !== null)
    return (
      <ProblemNotice
        error={error}
        onRetry={() => {
          void report.refetch();
          void fields.refetch();
        }}
      />
    );
  if (report.data === undefined || fields.data === undefined) return <Skeleton height={HEIGHT} />;
  const { totals, other_currencies: others } = report.data;
  const known = fields.data.metrics;
  const metrics = NAMES.flatMap((name) => known.find((one) => one.name === name) ?? []);
  const query = new URLSearchParams({ ...period, group_by: groupBy });
  return (
    <section className="stack tight" aria-label="Sums of the last 30 days">
      <div className="tiles">
        {metrics.map(({ name, label, kind }) => (
          <Link key={name} className="tile" href={`${membership.base}/reports?${query.toString()}`}>
            <span className="name">{label}</span>
            <span className="value" title={exact(totals[name], kind, currency)}>
              {formatFigure(totals[name], kind, currency)}
            </span>
          </Link>
        ))}
      </div>
      <p className="muted">
        Last 30 days
        {others.length > 0 && `. Money is in ${currency} and leaves out ${others.join(", ")}.`}
      </p>
    </section>
  );
}
