import type { ReactElement } from "react";
import { faultWords, fieldWords } from "../client/fault-words.ts";
import { Problem } from "../client/problem.ts";
import { Countdown } from "./countdown.tsx";

/** What went wrong, why, and what to do next. */
export function ProblemNotice({
  error,
  advice: known,
  isShown = () => false,
  onRetry,
}: {
  readonly error: unknown;
  /** Whether the fault of a field stands at the field. */
  readonly isShown?: (field: string) => boolean;
  /** What to do next, where the page knows it better than the code of the error says. */
  readonly advice?: string | undefined;
  readonly onRetry?: () => void;
}): ReactElement {
  const { title, advice: usual } = wordsFor(error);
  const advice = known ?? usual;
  const faults = faultsOf(error);
  const others = faults.filter(([name]) => !isShown(name));
  const text = asSentence(error instanceof Error ? error.message : String(error));
  return (
    <div className="notice bad" role="alert">
      <div className="grow">
        <strong>{title}</strong>
        {faults.length === 0 && <p>{text}</p>}
        {others.length > 0 && <OtherFaults faults={others} />}
        {error instanceof Problem && error.retryAfterSeconds !== undefined && (
          <Countdown key={error.requestId} seconds={error.retryAfterSeconds} onEnd={onRetry} />
        )}
        {advice !== "" && <p className="muted">{advice}</p>}
        {error instanceof Problem && error.code === "internal_error" && (
          <p className="muted">
            Request <code>{error.requestId}</code>
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Messages of the API may begin small, as parts of a sentence. */
function asSentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Faults of fields, without those that stand at their fields. */
function OtherFaults({
  faults,
}: {
  readonly faults: readonly (readonly [name: string, fault: string])[];
}): ReactElement {
  return (
    <ul className="fault-list">
      {faults.map(([name, fault]) => (
        <li key={name}>
          {fieldWords(name)}: {faultWords(fault)}
        </li>
      ))}
    </ul>
  );
}

function faultsOf(error: unknown): readonly (readonly [string, string])[] {
  return error instanceof Problem && error.code === "validation_failed"
    ? Object.entries(error.fields)
    : [];
}

const WORDS: Readonly<Record<string, { readonly title: string; readonly advice: string }>> = {
  unreachable: { title: "No answer", advice: "Check your connection." },
  unavailable: {
    title: "Not available at the moment",
    advice: "Everything else works.",
  },
  rate_limited: { title: "Too many requests", advice: "Wait a moment, then try again." },
  not_found: {
    title: "Page not found, or you don't have access",
    advice: "Check the address, or ask who can see it.",
  },
  forbidden: {
    title: "Not allowed",
    advice: "An admin of the workspace can change what you may do.",
  },
  read_only_key: { title: "Not allowed", advice: "Your role reads only." },
  invalid_parameter: { title: "A setting of this page is wrong", advice: "" },
  validation_failed: { title: "Check these fields", advice: "" },
  conflict: { title: "Not possible now", advice: "" },
  fresh_sign_in_required: { title: "Not done", advice: "Send it again, and prove that it is you." },
  in_use: { title: "Still in use", advice: "Remove what uses it first." },
  workspace_inactive: {
    title: "This workspace is switched off",
    advice: "Ask the operator of the installation.",
  },
  affiliate_inactive: {
    title: "This account is not active",
    advice: "Ask your affiliate manager.",
  },
  advertiser_inactive: { title: "This account is not active", advice: "Ask your account manager." },
  internal_error: { title: "The service failed", advice: "Give the request ID to the operator." },
};

function wordsFor(error: unknown): { readonly title: string; readonly advice: string } {
  const code = error instanceof Problem ? error.code : "";
  return WORDS[code] ?? { title: "Something went wrong", advice: "" };
}
