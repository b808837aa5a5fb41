import { type ReactElement, useState } from "react";
import { ProblemNotice } from "./problem-notice.tsx";

export type Decided = "approved" | "rejected";

/** Approves or rejects, with a text about it. */
export function Decision({
  label,
  isSending,
  error,
  onDecide,
}: {
  /** Label of the text. */
  readonly label: string;
  readonly isSending: boolean;
  readonly error: Error | null;
  readonly onDecide: (decided: Decided, text: string) => void;
}): ReactElement {
  const [text, setText] = useState("");
  return (
    <>
      <input
        className="input reason"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <button
        type="button"
        className="button first"
        data-key="approve"
        disabled={isSending}
        onClick={() => onDecide("approved", text)}
      >
        Approve
      </button>
      <button
        type="button"
        className="button danger"
        data-key="reject"
        disabled={isSending}
        onClick={() => onDecide("rejected", text)}
      >
        Reject
      </button>
      {error !== null && <ProblemNotice error={error} />}
    </>
  );
}
