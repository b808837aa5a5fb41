import { Problem } from "../client/problem.ts";
import { formatCount } from "../format/figure.ts";
import type { Notice } from "./decisions.ts";

/** What a notice says. It is true at the moment: nothing counts as done before the service has said so. */
export function wordsOf(
  notice: Pick<Notice, "state" | "keys" | "done" | "skipped" | "what" | "verb" | "error">,
): string {
  const { state, keys, what, verb } = notice;
  switch (state) {
    case "waiting":
      return `${what(keys)} will be ${verb}`;
    case "sending":
      return `${what(keys)}: being ${verb}`;
    case "undone":
      return `Taken back: ${what(keys)} not ${verb}`;
    case "failed": {
      const before = notice.done.length === 0 ? "" : `${what(notice.done)} ${verb}. `;
      return isUnknown(notice.error)
        ? `${before}${what(keys)}: not known whether ${verb}`
        : `${before}${what(keys)} not ${verb}`;
    }
    case "done":
      return `${what(notice.done)} ${verb}${skippedWords(notice.skipped)}`;
  }
}

/** ", 2 skipped: already approved" where all have one reason, else only how many. */
function skippedWords(skipped: Notice["skipped"]): string {
  if (skipped.length === 0) return "";
  const [reason, ...others] = new Set(skipped.map(({ why }) => why));
  const count = `${formatCount(skipped.length)} skipped`;
  return others.length === 0 && reason !== undefined ? `, ${count}: ${reason}` : `, ${count}`;
}

/** Without an answer, the change may have been made. */
function isUnknown(error: unknown): boolean {
  return error instanceof Problem && (error.status === 0 || error.status === 503);
}
