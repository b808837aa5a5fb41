import { type ReactElement, useState } from "react";

/** A button for what cannot be taken back: it asks once more in its place. */
export function ConfirmButton({
  label,
  question,
  isBusy,
  onConfirm,
}: {
  readonly label: string;
  /** Says what is lost. */
  readonly question: string;
  readonly isBusy: boolean;
  readonly onConfirm: () => void;
}): ReactElement {
  const [isAsking, setAsking] = useState(false);
  if (!isAsking)
    return (
      <button type="button" className="button danger" onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  return (
    <div className="row wrap notice warn" role="group" aria-label={label}>
      <span className="grow">{question}</span>
      <button type="button" className="button danger" disabled={isBusy} onClick={onConfirm}>
        Yes, {label.toLowerCase()}
      </button>
      <button type="button" className="button" onClick={() => setAsking(false)}>
        Keep it
      </button>
    </div>
  );
}
