import type { ReactElement } from "react";
import { isAway } from "../client/problem.ts";
import { ownLocale } from "../format/own-format.ts";
import { ProblemNotice } from "./problem-notice.tsx";
import { Skeleton } from "./skeleton.tsx";

/** The part of a query's result that is needed here. */
type Asked<Answer> = {
  readonly data: Answer | undefined;
  readonly error: unknown;
  readonly isError: boolean;
  readonly dataUpdatedAt: number;
  readonly refetch: () => unknown;
};

/**
 * Figures once they are there. While the service is away, one banner of the page says so and reads again, so a panel only keeps its place,
 * or the figures that it has with the time at which they were read. Any other refusal is shown here.
 */
export function Awaited<Answer>({
  asked,
  height,
  children,
}: {
  readonly asked: Asked<Answer>;
  /** Pixels that the figures will take. */
  readonly height: number;
  readonly children: (answer: Answer) => ReactElement | null;
}): ReactElement | null {
  const { data, error, isError } = asked;
  if (isError && !isAway(error))
    return <ProblemNotice error={error} onRetry={() => void asked.refetch()} />;
  if (data === undefined)
    return isError ? <NoFigures height={height} /> : <Skeleton height={height} />;
  if (!isError) return children(data);
  return (
    <>
      {children(data)}
      <p className="muted">As of {timeOf(asked.dataUpdatedAt)}.</p>
    </>
  );
}

/** Keeps the place of figures that cannot be read at the moment. */
export function NoFigures({ height }: { readonly height: number }): ReactElement {
  return (
    <div className="no-figures" style={{ minHeight: height }}>
      <p className="muted">No figures at the moment</p>
    </div>
  );
}

function timeOf(atMs: number): string {
  return new Intl.DateTimeFormat(ownLocale(), { timeStyle: "short" }).format(new Date(atMs));
}
