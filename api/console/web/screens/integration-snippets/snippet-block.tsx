import type { ReactElement } from "react";
import { CopyButton } from "../../parts/copy-button.tsx";

/** Text to put into a page or a program. What is copied may differ from what is shown, such as by a hidden token. */
export function SnippetBlock({
  title,
  shown,
  copied = shown,
}: {
  readonly title: string;
  readonly shown: string;
  readonly copied?: string;
}): ReactElement {
  return (
    <div className="stack tight">
      <div className="row">
        <strong className="grow">{title}</strong>
        <CopyButton label={`Copy: ${title}`} text={copied} />
      </div>
      <pre className="answer break" tabIndex={0} aria-label={title}>
        {shown}
      </pre>
    </div>
  );
}
