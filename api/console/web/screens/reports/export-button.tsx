import { Dialog } from "@base-ui/react/dialog";
import { Download, X } from "lucide-react";
import { type ReactElement, useState } from "react";
import { type Days, daysOf, monthsIn } from "../../address/months.ts";
import type { Query } from "../../client/lists.ts";
import { formatCount } from "../../format/figure.ts";
import { formatBucket } from "../../format/time.ts";
import { CsvButton } from "../../parts/csv-button.tsx";

/** One file holds no more rows. */
const ROWS_MAX = 200_000;

/** Saves a report as CSV. A report that is too long for one file is saved by months. */
export function ExportButton({
  query,
  rows,
  range,
}: {
  readonly query: Query;
  readonly rows: number;
  readonly range: { readonly from: string; readonly to: string; readonly tz: string };
}): ReactElement {
  const [isOpen, setOpen] = useState(false);
  if (rows <= ROWS_MAX) return <CsvButton path="/reports" query={query} rows={rows} />;
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <Download size={14} aria-hidden /> CSV by month
      </button>
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        <Dialog.Portal>
          <Dialog.Backdrop className="backdrop" />
          <Dialog.Popup className="drawer">
            <header className="row">
              <Dialog.Title className="grow">CSV by month</Dialog.Title>
              <Dialog.Close className="button plain" aria-label="Close">
                <X size={16} aria-hidden />
              </Dialog.Close>
            </header>
            <p>
              The report has {formatCount(rows)} rows, and one file holds at most{" "}
              {formatCount(ROWS_MAX)}. Save it month by month. If a file reaches the limit, add a
              filter.
            </p>
            <ul className="plain-list">
              {monthsIn(daysOf(range)).map((days) => (
                <li key={days.from} className="row wrap">
                  <span className="grow">{formatBucket(days.from, "month")}</span>
                  <CsvButton
                    path="/reports"
                    name={`reports-${days.from.slice(0, 7)}.csv`}
                    query={monthQuery(query, days)}
                  />
                </li>
              ))}
            </ul>
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  );
}

function monthQuery(query: Query, days: Days): Query {
  const { preset: _preset, ...rest } = query;
  return { ...rest, ...days };
}
