import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactElement } from "react";
import type { Query } from "../client/lists.ts";
import { saveCsv } from "../client/save-csv.ts";
import { useMembership } from "../session/membership.ts";
import { ProblemNotice } from "./problem-notice.tsx";

/** Saves everything that a list or report has for a query. */
export function CsvButton({
  path,
  query,
}: {
  /** Below `/api/v1`, such as `/reports`. */
  readonly path: string;
  readonly query: Query;
}): ReactElement {
  const membership = useMembership();
  const save = useMutation({
    mutationFn: async () => {
      const params = new URLSearchParams({ ...query, format: "csv" });
      await saveCsv(membership, `/api/v1${path}?${params.toString()}`, `${path.slice(1)}.csv`);
    },
  });
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={save.isPending}
        onClick={() => save.mutate()}
      >
        <Download size={14} aria-hidden /> CSV
      </button>
      {save.isError && <ProblemNotice error={save.error} />}
    </>
  );
}
