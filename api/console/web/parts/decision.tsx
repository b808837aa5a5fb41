import { type ReactElement, useState } from "react";

export type Answer = "approved" | "rejected";

/** Approves or rejects, with a text about it. What all rows are already is not offered. */
export function Decision({
  label,
  statuses,
  onDecide,
}: {
  /** Label of the text. */
  readonly label: string;
  /** What the rows are now. */
  readonly statuses: readonly string[];
  readonly onDecide: (answer: Answer, text: string) => void;
}): ReactElement {
  const [text, setText] = useState("");
  const isAll = (status: Answer): boolean => statuses.every((one) => one === status);
  return (
    <>
      <input
        className="input reason"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {!isAll("approved") && (
        <button
          type="button"
          className={statuses.includes("pending") ? "button first" : "button"}
          data-key="approve"
          onClick={() => onDecide("approved", text)}
        >
          Approve
        </button>
      )}
      {!isAll("rejected") && (
        <button
          type="button"
          className="button danger"
          data-key="reject"
          onClick={() => onDecide("rejected", text)}
        >
          Reject
        </button>
      )}
    </>
  );
}
