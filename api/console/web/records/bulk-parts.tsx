import { X } from "lucide-react";
import { type ReactElement, useState } from "react";
import { formatCount } from "../format/figure.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import type { Bulk, BulkReport } from "./bulk.ts";

const SHOWN_MAX = 100;

/** How far a change of many rows is, and what stopped it. */
export function BulkProgress<To>({
  bulk: { isSending, sent, error },
  count,
}: {
  readonly bulk: Bulk<To>;
  readonly count: number;
}): ReactElement | null {
  if (error !== null) {
    return (
      <>
        {sent > 0 && (
          <span role="status">
            {formatCount(sent)} of {formatCount(count)} are done; the others stay as they are.
          </span>
        )}
        <ProblemNotice error={error} />
      </>
    );
  }
  if (!isSending) return null;
  return (
    <span className="row" role="status">
      <progress value={sent} max={count} aria-label="Sent" />
      {formatCount(sent)} of {formatCount(count)}
    </span>
  );
}

/** What became of a change of many rows. It stays until somebody closes it. */
export function BulkOutcome({
  report: { changed, skipped },
  onClose,
}: {
  readonly report: BulkReport;
  readonly onClose: () => void;
}): ReactElement {
  const [isWhole, setWhole] = useState(false);
  const shown = skipped.slice(0, isWhole ? skipped.length : SHOWN_MAX);
  return (
    <div className={skipped.length === 0 ? "notice" : "notice warn"} role="status">
      <div className="grow stack tight">
        <strong>
          {formatCount(changed)} changed
          {skipped.length > 0 && `, ${formatCount(skipped.length)} skipped`}
        </strong>
        {skipped.length > 0 && (
          <ul className="plain-list skipped">
            {shown.map(({ name, why }) => (
              <li key={name}>
                <StrangerText text={name} /> <span className="muted">{why}</span>
              </li>
            ))}
          </ul>
        )}
        {shown.length < skipped.length && (
          <div className="row">
            <button type="button" className="button" onClick={() => setWhole(true)}>
              Show all
            </button>
          </div>
        )}
      </div>
      <button type="button" className="button plain icon" aria-label="Close" onClick={onClose}>
        <X size={16} aria-hidden />
      </button>
    </div>
  );
}
