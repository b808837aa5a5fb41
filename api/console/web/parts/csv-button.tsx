import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { Query } from "../client/lists.ts";
import { type CsvProgress, saveCsv } from "../client/save-csv.ts";
import { formatCount } from "../format/figure.ts";
import { useMembership } from "../member/membership.ts";
import { ProblemNotice } from "./problem-notice.tsx";

const MEGABYTE = 1_000_000;

/** Saves everything that a list or report has for a query, shows how far it is, and can be cancelled. */
export function CsvButton({
  path,
  query,
  label = "CSV",
  name = `${path.slice(1)}.csv`,
  rows,
}: {
  /** Below `/api/v1`, such as `/reports`. */
  readonly path: string;
  readonly query: Query;
  readonly label?: string;
  /** Name of the file. */
  readonly name?: string;
  /** How many rows the file will have, if that is known. */
  readonly rows?: number | undefined;
}): ReactElement {
  const membership = useMembership();
  const [progress, setProgress] = useState<CsvProgress>();
  const [cancel, setCancel] = useState<AbortController>();
  const save = useMutation({
    mutationFn: async () => {
      const controller = new AbortController();
      setCancel(controller);
      const { signal } = controller;
      const params = new URLSearchParams({ ...query, format: "csv" });
      setProgress({ lines: 0, bytes: 0 });
      const url = `/api/v1${path}?${params.toString()}`;
      return await saveCsv(membership, { path: url, name, signal, onProgress: setProgress });
    },
  });
  const isCancelled = save.isError && cancel?.signal.aborted === true;
  return (
    <>
      {save.isPending ? (
        <>
          <Progress progress={progress} rows={rows} />
          <button type="button" className="button" onClick={() => cancel?.abort()}>
            Cancel
          </button>
        </>
      ) : (
        <button type="button" className="button" onClick={() => save.mutate()}>
          <Download size={14} aria-hidden /> {label}
        </button>
      )}
      <span className="muted" role="status">
        {save.isSuccess && `Saved ${words(save.data, rows)}`}
        {isCancelled && "Cancelled, nothing was saved"}
      </span>
      {save.isError && !isCancelled && <ProblemNotice error={save.error} />}
    </>
  );
}

function Progress({
  progress = { lines: 0, bytes: 0 },
  rows,
}: {
  readonly progress: CsvProgress | undefined;
  readonly rows: number | undefined;
}): ReactElement {
  return (
    <span className="row">
      <progress
        aria-label="Export"
        max={rows ?? 1}
        value={rows === undefined ? undefined : Math.min(rows, progress.lines)}
      />
      <span className="muted">{words(progress, rows)}</span>
    </span>
  );
}

/** Totals and notes stand below the rows, so there may be more lines than rows. */
function words({ lines, bytes }: CsvProgress, rows: number | undefined): string {
  const size = `${(bytes / MEGABYTE).toFixed(1)} MB`;
  if (rows === undefined) return `${formatCount(lines)} rows, ${size}`;
  return `${formatCount(Math.min(lines, rows))} of ${formatCount(rows)} rows, ${size}`;
}
