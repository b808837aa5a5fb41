import type { ReactElement } from "react";
import type { LoadChoices } from "../client/choices.ts";
import { useRecordName } from "../client/record-names.ts";
import { useMembership } from "../member/membership.ts";
import { StrangerText } from "../parts/stranger-text.tsx";

/** A record that another one names by its ID. */
export function RecordName({
  of,
  id,
}: {
  readonly of: LoadChoices;
  readonly id: string | number;
}): ReactElement {
  return <StrangerText text={useRecordName(useMembership(), of, String(id))} />;
}
