import type { ReactElement } from "react";
import { statusWords } from "../format/value-words.ts";

const TONES: Readonly<Record<string, string>> = {
  accepted: "good",
  active: "good",
  approved: "good",
  delivered: "good",
  redirect: "good",
  certified: "good",
  done: "good",
  in_payout: "good",
  draft: "warn",
  pending: "warn",
  retrying: "warn",
  paused: "warn",
  fallback: "warn",
  refused: "warn",
  stopped: "warn",
  rejected: "bad",
  blocked: "bad",
  failed: "bad",
  disabled: "bad",
  part_paid: "warn",
  inactive: "bad",
};

/** A state in a word. The colour only repeats it. */
export function StatusBadge({ status }: { readonly status: string }): ReactElement {
  return <span className={`badge ${TONES[status] ?? ""}`}>{statusWords(status)}</span>;
}
