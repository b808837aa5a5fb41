import { Download } from "lucide-react";
import type { ReactElement } from "react";
import { saveFile } from "../../client/save-file.ts";
import { formatCount } from "../../format/figure.ts";
import { faultsCsv } from "../../imports/faults-csv.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { FIELD_WORDS } from "./update-words.ts";
import { type UpdateRow, useAllRefusedRows, useRefusedRows } from "./use-updates.ts";

/** Refused rows with what is wrong with them, and all of them as CSV. */
export function RefusedRows({
  id,
  count,
}: {
  readonly id: number;
  readonly count: number;
}): ReactElement {
  const { data = [], isError, error } = useRefusedRows(id);
  const all = useAllRefusedRows(id);
  const save = (): void =>
    all.mutate(undefined, {
      onSuccess: (rows) => saveFile("refused-rows.csv", [faultsCsv(faultsOf(rows))]),
    });
  return (
    <section className="stack tight" aria-label="Refused rows">
      <h3>Refused rows</h3>
      {isError && <ProblemNotice error={error} />}
      <ul className="plain-list">
        {faultsOf(data).map(({ row, field, message }) => (
          <li key={`${row} ${field}`} className="break">
            <strong>Row {formatCount(row)}</strong>{" "}
            {field !== "" && <>{FIELD_WORDS.get(field) ?? field}: </>}
            <StrangerText text={message} />
          </li>
        ))}
      </ul>
      {count > data.length && data.length > 0 && (
        <p className="muted">{formatCount(count - data.length)} more rows are refused.</p>
      )}
      <div className="row wrap">
        <button type="button" className="button" disabled={all.isPending} onClick={save}>
          <Download size={14} aria-hidden /> Refused rows as CSV
        </button>
        {all.isError && <ProblemNotice error={all.error} />}
      </div>
    </section>
  );
}

function faultsOf(
  rows: readonly UpdateRow[],
): { readonly row: number; readonly field: string; readonly message: string }[] {
  return rows.flatMap(({ row, faults }) =>
    Object.entries(faults).map(([field, message]) => ({ row, field, message })),
  );
}
