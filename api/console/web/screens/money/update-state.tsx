import type { ReactElement } from "react";
import { formatCount } from "../../format/figure.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RefusedRows } from "./refused-rows.tsx";
import { UpdateColumns } from "./update-columns.tsx";
import { UpdateSums } from "./update-sums.tsx";
import { countsInWords } from "./update-words.ts";
import {
  type Columns,
  isUnderWay,
  type UpdateWithSums,
  useUpdate,
  useUpdatePhase,
} from "./use-updates.ts";

const HEIGHT = 120;
const PROGRESS: Readonly<Record<string, string>> = {
  checking: "Rows checked",
  applying: "Rows applied",
  undoing: "Rows undone",
};

/** How far a file is, what it does or has done, and what is wrong with its rows. */
export function UpdateState({
  id,
  mayWrite,
  onColumns,
}: {
  readonly id: number;
  readonly mayWrite: boolean;
  /** Sends the file again with other columns. Undefined if this page no longer has the file. */
  readonly onColumns: ((columns: Columns) => void) | undefined;
}): ReactElement {
  const { data, isError, error, refetch } = useUpdate(id);
  if (isError && data === undefined)
    return <ProblemNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height={HEIGHT} />;
  const isKnown = data.status !== "checking";
  return (
    <section className="panel stack" aria-label="This file">
      <h2 className="row wrap">
        <span className="break">
          {data.name === "" ? `File ${id}` : <StrangerText text={data.name} />}
        </span>
        <StatusBadge status={data.status} />
      </h2>
      {isUnderWay(data) && (
        <progress
          value={data.rows_done}
          max={Math.max(data.rows, 1)}
          aria-label={PROGRESS[data.status]}
        />
      )}
      <p role="status">
        {isUnderWay(data)
          ? `${formatCount(data.rows_done)} of ${formatCount(data.rows)} rows done.`
          : `${countsInWords(data)}.`}
        {isKnown && data.counts.missing > 0
          ? ` ${formatCount(data.counts.missing)} of these conversions are not in the file and are rejected.`
          : null}
      </p>
      {data.message !== "" && <p className="break">{data.message}</p>}
      {mayWrite && <Actions found={data} />}
      {isKnown && <UpdateSums sums={data.sums} />}
      {isKnown && data.counts.refused > 0 && <RefusedRows id={id} count={data.counts.refused} />}
      {isKnown && <UpdateColumns columns={data.columns} onChange={onColumns} />}
    </section>
  );
}

function Actions({
  found: { id, status, counts, applied_at: appliedAt },
}: {
  readonly found: UpdateWithSums;
}): ReactElement | null {
  const phase = useUpdatePhase(id);
  const isBusy = phase.isPending;
  const canUndo =
    appliedAt !== null && counts.changed > 0 && ["done", "stopped", "failed"].includes(status);
  return (
    <>
      <div className="row wrap">
        {status === "checked" && counts.changed === 0 && <strong>Nothing to change</strong>}
        {status === "checked" && counts.changed > 0 && (
          <button
            type="button"
            className="button first"
            disabled={isBusy}
            onClick={() => phase.mutate("apply")}
          >
            Change {formatCount(counts.changed)}{" "}
            {counts.changed === 1 ? "conversion" : "conversions"}
          </button>
        )}
        {(status === "checking" || status === "applying") && (
          <button
            type="button"
            className="button danger"
            disabled={isBusy}
            onClick={() => phase.mutate("stop")}
          >
            Stop
          </button>
        )}
        {canUndo && (
          <ConfirmButton
            label="Undo this file"
            question={`${formatCount(counts.changed)} conversions get the status and amounts that they had before, except for those that somebody has changed since. Partners' postbacks that have fired stay fired.`}
            isBusy={isBusy}
            onConfirm={() => phase.mutate("undo")}
          />
        )}
      </div>
      {phase.isError && <ProblemNotice error={phase.error} />}
    </>
  );
}
