import type { ReactElement } from "react";
import type { LoadChoices } from "../client/choices.ts";
import { useRecordName } from "../client/record-names.ts";
import { StrangerText } from "../parts/stranger-text.tsx";
import { useMembership } from "../session/membership.ts";

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
