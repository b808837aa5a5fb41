import { Download } from "lucide-react";
import { type ReactElement, useState } from "react";
import { saveFile } from "../client/save-file.ts";
import { formatCount } from "../format/figure.ts";
import { StrangerText } from "../parts/stranger-text.tsx";
import { faultsCsv } from "./faults-csv.ts";
import type { ImportWithFaults } from "./use-imports.ts";

const SHOWN_MAX = 20;

/** What is wrong with the rows of a file. Names of fields may come from the file. */
export function ImportFaults({
  found: { faults, rows_faulty: faultyRows },
}: {
  readonly found: ImportWithFaults;
}): ReactElement | null {
  const [isWhole, setWhole] = useState(false);
  if (faults.length === 0) return null;
  const listed = new Set(faults.map(({ row }) => row)).size;
  const shown = faults.slice(0, isWhole ? faults.length : SHOWN_MAX);
  return (
    <section className="stack tight" aria-label="Faults">
      <h3>Faults</h3>
      <ul className="plain-list">
        {shown.map(({ row, field, message }) => (
          <li key={`${row} ${field}`} className="break">
            <strong>Row {formatCount(row)}</strong>{" "}
            {field !== "" && (
              <>
                <code>
                  <StrangerText text={field} />
                </code>
                :{" "}
              </>
            )}
            <StrangerText text={message} />
          </li>
        ))}
      </ul>
      {faultyRows > listed && (
        <p className="muted">{formatCount(faultyRows - listed)} more rows have faults.</p>
      )}
      <div className="row wrap">
        {shown.length < faults.length && (
          <button type="button" className="button" onClick={() => setWhole(true)}>
            Show all {formatCount(faults.length)}
          </button>
        )}
        <button
          type="button"
          className="button"
          onClick={() => saveFile("faults.csv", [faultsCsv(faults)])}
        >
          <Download size={14} aria-hidden /> Faults as CSV
        </button>
      </div>
    </section>
  );
}
