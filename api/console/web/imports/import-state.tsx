import type { ReactElement } from "react";
import { formatCount } from "../format/figure.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { StatusBadge } from "../parts/status-badge.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { ImportFaults } from "./import-faults.tsx";
import { type ImportKind, isOpen, rowsDone, rowsInWords } from "./import-words.ts";
import { type ImportWithFaults, useImport, useStop } from "./use-imports.ts";

const HEIGHT = 80;

/** How far an import is, what came of it, and what is wrong with its rows. */
export function ImportState({
  id,
  kind,
}: {
  readonly id: number;
  readonly kind: ImportKind;
}): ReactElement {
  const { data, isError, error, refetch } = useImport(id, kind);
  if (isError && data === undefined)
    return <ProblemNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height={HEIGHT} />;
  return (
    <section className="stack tight notice plain" aria-label="This import">
      <Progress found={data} />
      {data.message !== "" && (
        <p className="break">
          <StrangerText text={data.message} />
        </p>
      )}
      {isOpen(data) && <Stop id={id} />}
      <ImportFaults found={data} />
    </section>
  );
}

function Progress({ found }: { readonly found: ImportWithFaults }): ReactElement {
  const { status, dry_run: isDryRun, name, rows_checked: rows } = found;
  return (
    <>
      <p className="row wrap">
        <strong>{isDryRun ? "Check" : "Import"}</strong>
        {name !== "" && (
          <span className="break">
            <StrangerText text={name} />
          </span>
        )}
        <StatusBadge status={status} />
      </p>
      {status === "writing" && (
        <progress value={rowsDone(found)} max={Math.max(rows, 1)} aria-label="Rows written" />
      )}
      {(status === "queued" || status === "checking") && <progress aria-label="Checking" />}
      <p role="status">
        {status === "queued" ? "Waits for its turn." : null}
        {status === "checking" ? `${formatCount(rows)} rows checked.` : null}
        {status === "queued" || status === "checking" ? null : `${rowsInWords(found)}.`}
      </p>
    </>
  );
}

function Stop({ id }: { readonly id: number }): ReactElement {
  const stop = useStop(id);
  return (
    <div className="row wrap">
      <button
        type="button"
        className="button danger"
        disabled={stop.isPending}
        onClick={() => stop.mutate()}
      >
        Stop
      </button>
      {stop.isError && <ProblemNotice error={stop.error} />}
    </div>
  );
}
