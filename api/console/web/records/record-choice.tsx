import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactElement, useDeferredValue, useState } from "react";
import type { LoadChoices } from "../client/choices.ts";
import { ChoiceField } from "../parts/choice-field.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useMembership } from "../session/membership.ts";

/** Chooses a record. Where there are more than fit into a list, a search finds the others. */
export function RecordChoice({
  label,
  load,
  value,
  onChange,
}: {
  readonly label: string;
  readonly load: LoadChoices;
  /** "" for none yet. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactElement {
  const membership = useMembership();
  const [sought, setSought] = useState("");
  const asked = useDeferredValue(sought.trim());
  const { data, error } = useQuery({
    queryKey: [membership.membershipId, "choices", label, asked],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => await load(membership, asked, signal),
  });
  const choices = data?.choices ?? [];
  const isKnown = choices.some(([one]) => one === value);
  return (
    <>
      {error !== null && <ProblemNotice error={error} />}
      {(data?.isWhole === false || sought !== "") && (
        <TextField label={`Search ${label.toLowerCase()}`} value={sought} onChange={setSought} />
      )}
      <ChoiceField
        label={label}
        value={value}
        choices={[
          ["", "Choose"],
          // What was chosen stays, also when a later search does not find it.
          ...(value === "" || isKnown ? [] : [[value, value] as const]),
          ...choices,
        ]}
        onChange={onChange}
      />
    </>
  );
}
