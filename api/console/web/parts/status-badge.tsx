import type { ReactElement } from "react";

const TONES: Readonly<Record<string, string>> = {
  accepted: "good",
  active: "good",
  approved: "good",
  delivered: "good",
  redirect: "good",
  certified: "good",
  done: "good",
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
  inactive: "bad",
};

/** A state in a word. The colour only repeats it. */
export function StatusBadge({ status }: { readonly status: string }): ReactElement {
  return <span className={`badge ${TONES[status] ?? ""}`}>{status.replaceAll("_", " ")}</span>;
}
