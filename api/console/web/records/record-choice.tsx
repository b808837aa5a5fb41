import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactElement, useDeferredValue, useState } from "react";
import type { LoadChoices } from "../client/choices.ts";
import { useRecordName } from "../client/record-names.ts";
import { useMembership } from "../member/membership.ts";
import { ChoiceField } from "../parts/choice-field.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { TextField } from "../parts/text-field.tsx";

/** Chooses a record. Where there are more than fit into a list, a search finds the others. */
export function RecordChoice({
  label,
  load,
  value,
  fault,
  none = "Choose",
  onChange,
}: {
  readonly label: string;
  readonly load: LoadChoices;
  /** "" for none yet. */
  readonly value: string;
  readonly fault?: string | undefined;
  /** Words for no record. */
  readonly none?: string;
  readonly onChange: (value: string) => void;
}): ReactElement {
  const membership = useMembership();
  const [sought, setSought] = useState("");
  const asked = useDeferredValue(sought.trim());
  const { data, error } = useQuery({
    queryKey: [membership.membershipId, "choices", load.name, asked],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => await load.load(membership, asked, signal),
  });
  const choices = data?.choices ?? [];
  const name = useRecordName(membership, load, value);
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
        fault={fault}
        choices={[
          ["", none],
          // What was chosen stays, also when a later search does not find it.
          ...(value === "" || isKnown
            ? []
            : [[value, load.nameOf === undefined ? value : name] as const]),
          ...choices,
        ]}
        onChange={onChange}
      />
    </>
  );
}
