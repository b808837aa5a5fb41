import type { ReactElement } from "react";
import { formatCount } from "../../format/figure.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { LeftOutRows } from "./left-out-rows.tsx";
import { UpdateColumns } from "./update-columns.tsx";
import { UpdateSums } from "./update-sums.tsx";
import { countsInWords, UNNAMED_FILE } from "./update-words.ts";
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
  return (
    <section className="panel stack" aria-label="This file">
      <h2 className="row wrap">
        <span className="break">
          {data.name === "" ? UNNAMED_FILE : <StrangerText text={data.name} />}
        </span>
        <StatusBadge status={data.status} />
      </h2>
      <p className="muted">
        Sent by <StrangerText text={data.created_by} />, <InstantText iso={data.created_at} />
      </p>
      <Progress found={data} />
      {data.message !== "" && <p className="break">{data.message}</p>}
      {mayWrite && <Actions found={data} />}
      {data.status !== "checking" && <Findings found={data} onColumns={onColumns} />}
    </section>
  );
}

function Progress({ found }: { readonly found: UpdateWithSums }): ReactElement {
  const { status, rows, rows_done: done, counts } = found;
  if (isUnderWay(found))
    return (
      <>
        <progress value={done} max={Math.max(rows, 1)} aria-label={PROGRESS[status]} />
        <p role="status">
          {formatCount(done)} of {formatCount(rows)} rows done.
        </p>
      </>
    );
  return (
    <p role="status">
      {`${countsInWords(found)}.`}
      {counts.missing > 0 &&
        ` ${formatCount(counts.missing)} of these conversions are not in the file and are rejected.`}
    </p>
  );
}

function Findings({
  found: { id, sums, counts, columns },
  onColumns,
}: {
  readonly found: UpdateWithSums;
  readonly onColumns: ((columns: Columns) => void) | undefined;
}): ReactElement {
  return (
    <>
      <UpdateSums sums={sums} />
      {(["refused", "unknown"] as const).map(
        (outcome) =>
          counts[outcome] > 0 && (
            <LeftOutRows key={outcome} id={id} outcome={outcome} count={counts[outcome]} />
          ),
      )}
      <UpdateColumns columns={columns} onChange={onColumns} />
    </>
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
