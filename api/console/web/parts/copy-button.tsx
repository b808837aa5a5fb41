import { Check, Copy } from "lucide-react";
import { type ReactElement, useState } from "react";

const SHOWN_MS = 1_500;

/** Copies a text and says that it did. */
export function CopyButton({
  text,
  label,
  isNamed = false,
}: {
  readonly text: string;
  readonly label: string;
  /** Whether the label is visible, for buttons beside each other. */
  readonly isNamed?: boolean;
}): ReactElement {
  const [state, setState] = useState<"ready" | "copied" | "refused">("ready");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      // The browser may refuse; the person then selects the text.
      setState("refused");
    }
    setTimeout(() => setState("ready"), SHOWN_MS);
  };
  return (
    <button type="button" className="button plain" onClick={() => void copy()} title={label}>
      {state === "copied" ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
      <span className={isNamed || state === "refused" ? undefined : "unseen"} aria-live="polite">
        {state === "copied" ? "Copied" : state === "refused" ? "Copy by hand" : label}
      </span>
    </button>
  );
}
