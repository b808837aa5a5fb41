import { type ReactElement, useState } from "react";
import type { LoadChoices } from "../client/choices.ts";
import { useRecordName } from "../client/record-names.ts";
import { mayDo, useMembership } from "../member/membership.ts";
import { Combobox } from "../parts/combobox.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useFoundChoices, useRecentChoices } from "./use-found-choices.ts";

type RecordChoiceProps = {
  readonly label: string;
  readonly load: LoadChoices;
  /** "" for none yet. */
  readonly value: string;
  readonly fault?: string | undefined;
  readonly hint?: string | undefined;
  /** Words for no record. */
  readonly none?: string | undefined;
  /** The label stands inside, as the filters of a list have it. */
  readonly isBare?: boolean | undefined;
  /** Not offered, because they are chosen already. */
  readonly without?: readonly string[] | undefined;
  readonly onChange: (value: string) => void;
};

/** Chooses a record, a country or another thing by a part of its name, its code or its ID. */
export function RecordChoice(props: RecordChoiceProps): ReactElement {
  const membership = useMembership();
  const { load, label, value, fault, hint, onChange } = props;
  if (load.permission === undefined || mayDo(membership, load.permission))
    return <SearchedChoice {...props} />;
  // Whoever may not read the names can still give the ID.
  return (
    <TextField
      label={`${label} ID`}
      inputMode="numeric"
      {...{ value, fault, hint }}
      onChange={(text) => onChange(text.trim())}
    />
  );
}

function SearchedChoice({
  label,
  load,
  value,
  fault,
  hint,
  none = "Choose",
  isBare,
  without = [],
  onChange,
}: RecordChoiceProps): ReactElement {
  const membership = useMembership();
  const [sought, setSought] = useState<string>();
  const recent = useRecentChoices(membership, load);
  const found = useFoundChoices(membership, load, { sought, recent: recent.choices });
  const name = useRecordName(membership, load, { value, mayRead: true });
  return (
    <Combobox
      {...{ label, isBare, value, hint, fault }}
      shown={name}
      placeholder={none}
      found={{
        state: found.state,
        options: found.options.filter((one) => !without.includes(one.value)),
      }}
      onSeek={setSought}
      onChoose={({ value: chosen, words, detail }) => {
        recent.note([chosen, words, detail]);
        onChange(chosen);
      }}
      onClear={() => onChange("")}
      onRetry={found.retry}
    />
  );
}
