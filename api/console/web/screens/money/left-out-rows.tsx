import { Download } from "lucide-react";
import type { ReactElement } from "react";
import { saveFile } from "../../client/save-file.ts";
import { formatCount } from "../../format/figure.ts";
import { faultsCsv } from "../../imports/faults-csv.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { FIELD_WORDS } from "./update-words.ts";
import { type LeftOut, type UpdateRow, useAllLeftOutRows, useLeftOutRows } from "./use-updates.ts";

const WORDS: Readonly<
  Record<LeftOut, { readonly title: string; readonly file: string; readonly more: string }>
> = {
  refused: { title: "Refused rows", file: "refused-rows.csv", more: "more rows are refused" },
  unknown: { title: "Unknown rows", file: "unknown-rows.csv", more: "more rows are unknown" },
};
/** What a row names its conversion by. */
const NAMING: ReadonlySet<string> = new Set([
  "conversion_id",
  "offer",
  "txid",
  "event",
  "click_id",
]);

/** Rows that change nothing with what is wrong with them, and all of them as CSV. */
export function LeftOutRows({
  id,
  outcome,
  count,
}: {
  readonly id: number;
  readonly outcome: LeftOut;
  readonly count: number;
}): ReactElement {
  const { title, file, more } = WORDS[outcome];
  const { data = [], isError, error } = useLeftOutRows(id, outcome);
  const all = useAllLeftOutRows(id, outcome);
  const faultsOf = outcome === "refused" ? wrongFields : unknownNames;
  const save = (): void =>
    all.mutate(undefined, {
      onSuccess: (rows) => saveFile(file, [faultsCsv(faultsOf(rows))]),
    });
  return (
    <section className="stack tight" aria-label={title}>
      <h3>{title}</h3>
      {outcome === "unknown" && <p className="muted">No conversion is found by these names.</p>}
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
        <p className="muted">
          {formatCount(count - data.length)} {more}.
        </p>
      )}
      <div className="row wrap">
        <button type="button" className="button" disabled={all.isPending} onClick={save}>
          <Download size={14} aria-hidden /> {title} as CSV
        </button>
        {all.isError && <ProblemNotice error={all.error} />}
      </div>
    </section>
  );
}

type Fault = { readonly row: number; readonly field: string; readonly message: string };

function wrongFields(rows: readonly UpdateRow[]): Fault[] {
  return rows.flatMap(({ row, faults }) =>
    Object.entries(faults).map(([field, message]) => ({ row, field, message })),
  );
}

/** A fault a row: all names that no conversion has. */
function unknownNames(rows: readonly UpdateRow[]): Fault[] {
  return rows.map(({ row, fields }) => ({
    row,
    field: "",
    message: Object.entries(fields)
      .filter(([field]) => NAMING.has(field))
      .map(([field, value]) => `${FIELD_WORDS.get(field) ?? field} ${value}`)
      .join(", "),
  }));
}
