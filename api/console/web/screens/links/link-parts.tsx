import { type ReactElement, useState } from "react";
import { TextField } from "../../parts/text-field.tsx";
import { deepLinkFault } from "./deep-link.ts";

const SUBS = Array.from({ length: 10 }, (_, index) => `sub${index + 1}`);
const SUBS_SHOWN = 3;
const VALUE_LENGTH_MAX = 255;
const HINTS: Readonly<Record<string, string>> = {
  sub1: "Often the click ID of your own tracker",
  sub2: "Such as the campaign",
  sub3: "Such as the placement",
  source_id: "Which site or channel sends the visitor",
};

export type LinkValues = Readonly<Record<string, string>>;

/** What somebody puts into a link: sub IDs and the source, and a page of the shop. */
export type LinkParts = {
  readonly values: LinkValues;
  readonly setValue: (name: string, value: string) => void;
  readonly typedPage: string;
  readonly setPage: (typed: string) => void;
};

export function useLinkParts(): LinkParts {
  const [values, setValues] = useState<LinkValues>({});
  const [typedPage, setPage] = useState("");
  return {
    values,
    setValue: (name, value) => setValues((before) => ({ ...before, [name]: value })),
    typedPage,
    setPage,
  };
}

/** The page that a link can lead to as it is typed now; empty for the offer's own. */
export function pageOf({ typedPage }: LinkParts): string {
  return deepLinkFault(typedPage) === undefined ? typedPage.trim() : "";
}

export function LinkPartFields({
  parts,
  hasPage,
}: {
  readonly parts: LinkParts;
  /** Whether the link can name a page of its own. */
  readonly hasPage: boolean;
}): ReactElement {
  const { values, setValue, typedPage, setPage } = parts;
  const field = (name: string, label: string): ReactElement => (
    <TextField
      key={name}
      label={label}
      hint={HINTS[name]}
      maxLength={VALUE_LENGTH_MAX}
      value={values[name] ?? ""}
      onChange={(value) => setValue(name, value)}
    />
  );
  const subs = SUBS.map((name, index) => field(name, `Sub ${index + 1}`));
  return (
    <>
      <div className="field-grid">
        {subs.slice(0, SUBS_SHOWN)}
        {field("source_id", "Source")}
      </div>
      <details>
        <summary>Sub 4 to 10</summary>
        <div className="field-grid">{subs.slice(SUBS_SHOWN)}</div>
      </details>
      {hasPage && (
        <TextField
          label="Landing page"
          value={typedPage}
          fault={deepLinkFault(typedPage)}
          hint="Optional: the address of another page of the shop. Links to hosts that the offer does not allow are refused."
          placeholder="https://"
          onChange={setPage}
        />
      )}
    </>
  );
}
