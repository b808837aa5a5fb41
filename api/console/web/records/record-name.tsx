import type { ReactElement } from "react";
import type { LoadChoices } from "../client/choices.ts";
import { useRecordName } from "../client/record-names.ts";
import { mayDo, useMembership } from "../member/membership.ts";
import { StrangerText } from "../parts/stranger-text.tsx";

/** A record that another one names by its ID. */
export function RecordName({
  of,
  id,
}: {
  readonly of: LoadChoices;
  readonly id: string | number;
}): ReactElement {
  const membership = useMembership();
  const mayRead = of.permission === undefined || mayDo(membership, of.permission);
  return <StrangerText text={useRecordName(membership, of, { value: String(id), mayRead })} />;
}
