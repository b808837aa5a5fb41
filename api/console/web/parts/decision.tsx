import { type ReactElement, useState } from "react";
import { REPLY_MAX } from "../../../../schemas/catalog/access-reply.ts";

export type Answer = "approved" | "rejected";

/** Approves or rejects, with a text about it. What all rows are already is not offered. */
export function Decision({
  label,
  toPartner,
  statuses,
  onDecide,
}: {
  /** Label of the text. */
  readonly label: string;
  /** Label of a second text, which the partner reads. Without it there is none. */
  readonly toPartner?: string;
  /** What the rows are now. */
  readonly statuses: readonly string[];
  readonly onDecide: (answer: Answer, text: string, reply: string) => void;
}): ReactElement {
  const [text, setText] = useState("");
  const [reply, setReply] = useState("");
  const isAll = (status: Answer): boolean => statuses.every((one) => one === status);
  return (
    <>
      {toPartner !== undefined && (
        <input
          className="input reason"
          aria-label={toPartner}
          placeholder={toPartner}
          maxLength={REPLY_MAX}
          value={reply}
          onChange={(event) => setReply(event.currentTarget.value)}
        />
      )}
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
          onClick={() => onDecide("approved", text, reply)}
        >
          Approve
        </button>
      )}
      {!isAll("rejected") && (
        <button
          type="button"
          className="button danger"
          data-key="reject"
          onClick={() => onDecide("rejected", text, reply)}
        >
          Reject
        </button>
      )}
    </>
  );
}
