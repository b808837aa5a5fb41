import type { ReactElement } from "react";
import { affiliateIdChoices, type LoadChoices, offerIdChoices } from "../../client/choices.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { rowsIn, textIn } from "../../records/form-draft.ts";
import { RecordName } from "../../records/record-name.tsx";
import { conditionsText } from "./conditions-text.ts";

/** More names than these are counted. */
const NAMES_MAX = 2;

/** The conditions of a rule in a few words for a list, with the names of offers and partners. */
export function ConditionsCell({ conditions }: { readonly conditions: object }): ReactElement {
  const { offer_ids: offers, affiliate_ids: partners, ...others } = conditions as Conditions;
  const text = conditionsText(others);
  return (
    <>
      <Names label="offers" of={offerIdChoices} ids={rowsIn(offers)} />
      <Names label="partners" of={affiliateIdChoices} ids={rowsIn(partners)} />
      <StrangerText text={text} />
    </>
  );
}

type Conditions = { readonly offer_ids?: unknown; readonly affiliate_ids?: unknown };

function Names({
  label,
  of,
  ids,
}: {
  readonly label: string;
  readonly of: LoadChoices;
  readonly ids: readonly unknown[];
}): ReactElement | null {
  if (ids.length === 0) return null;
  const shown = ids.slice(0, NAMES_MAX).map(textIn);
  return (
    <>
      {label}{" "}
      {shown.map((id, at) => (
        <span key={id}>
          {at > 0 && ", "}
          <RecordName of={of} id={id} />
        </span>
      ))}
      {ids.length > NAMES_MAX && ` and ${ids.length - NAMES_MAX} more`};{" "}
    </>
  );
}
