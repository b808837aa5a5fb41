import type { ReactElement } from "react";

const TONES: Readonly<Record<string, string>> = {
  accepted: "good",
  active: "good",
  approved: "good",
  delivered: "good",
  redirect: "good",
  certified: "good",
  done: "good",
  in_payout: "good",
  paid: "good",
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

/** States that have another name before a person. */
const WORDS: Readonly<Record<string, string>> = {
  redirect: "Redirected",
};

/** A state in a word. The colour only repeats it. */
export function StatusBadge({ status }: { readonly status: string }): ReactElement {
  return <span className={`badge ${TONES[status] ?? ""}`}>{statusWords(status)}</span>;
}

/** A state of the API as the console writes it: "not_set" is "Not set". */
export function statusWords(status: string): string {
  const words = status.replaceAll("_", " ");
  return WORDS[status] ?? words.charAt(0).toUpperCase() + words.slice(1);
}
