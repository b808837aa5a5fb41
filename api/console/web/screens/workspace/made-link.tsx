import type { ReactElement } from "react";
import { CopyButton } from "../../parts/copy-button.tsx";

/** A one-time link as the API has answered it. */
export type MadeLink = {
  readonly link: string;
  /** Whether the person has it already; null without a mail server. */
  readonly mailed: boolean | null;
};

export const NO_LINK: MadeLink = { link: "", mailed: null };

/** A link for somebody else, which is shown only once. `lasts` is such as "7 days". */
export function ShownLink({
  made: { link, mailed },
  lasts,
}: {
  readonly made: MadeLink;
  readonly lasts: string;
}): ReactElement {
  return (
    <>
      {mailed === true ? (
        <p role="status">A link is mailed. It proves the e-mail; this one does not.</p>
      ) : (
        <p className={mailed === false ? "notice warn" : undefined}>
          {mailed === false && "The mail server has not taken it. "}Send this link to the person.
        </p>
      )}
      <p>
        The link works once, within {lasts}, and is shown only now. It ends if you lose the right to
        make it.
      </p>
      <div className="row wrap">
        <code className="grow break">{link}</code>
        <CopyButton label="Copy the link" text={link} />
      </div>
    </>
  );
}
