import { type FormEvent, type ReactElement, useState } from "react";
import type { AddressChange } from "../address/use-address.ts";
import type { Choice, LoadChoices } from "../client/choices.ts";
import type { Query } from "../client/lists.ts";
import { mayDo, useMembership } from "../member/membership.ts";
import { RecordChoice } from "./record-choice.tsx";

/** A filter with the name that the API gives it. Its value is one of its choices, or is searched with `load`; else it is a text. */
export type ListFilter = {
  readonly name: string;
  readonly label: string;
  readonly choices?: readonly Choice[] | undefined;
  readonly load?: LoadChoices | undefined;
};

/** The filters that the address has values for. */
export function givenFilters(search: URLSearchParams, filters: readonly ListFilter[]): Query {
  const given = filters.flatMap(({ name }) => {
    const value = search.get(name) ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

/** The filters of a list. They are in the address, with the names of the API. */
export function ListFilters({
  filters,
  search,
  onChange,
}: {
  readonly filters: readonly ListFilter[];
  readonly search: URLSearchParams;
  readonly onChange: (change: AddressChange) => void;
}): ReactElement {
  const valueOf = ({ name }: ListFilter): string => search.get(name) ?? "";
  return (
    <div className="row wrap filters">
      {filters.map((filter) => (
        <OneFilter
          // A text is typed anew when the address changes.
          key={filter.load === undefined ? `${filter.name} ${valueOf(filter)}` : filter.name}
          filter={filter}
          value={valueOf(filter)}
          onChange={(value) => onChange({ [filter.name]: value })}
        />
      ))}
    </div>
  );
}

type FilterProps = {
  readonly filter: ListFilter;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

function OneFilter(props: FilterProps): ReactElement {
  const {
    filter: { label, choices, load },
    value,
    onChange,
  } = props;
  const membership = useMembership();
  if (load?.permission !== undefined && !mayDo(membership, load.permission))
    return <TextFilter {...props} filter={{ ...props.filter, label: `${label} ID` }} />;
  if (load !== undefined)
    return <RecordChoice isBare none={`${label}: all`} {...{ label, load, value, onChange }} />;
  if (choices === undefined) return <TextFilter {...props} />;
  return (
    <select
      className="select"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <option value="">{label}: all</option>
      {choices.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  );
}

function TextFilter({ filter: { label }, value, onChange }: FilterProps): ReactElement {
  const [text, setText] = useState(value);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onChange(text.trim());
  };
  return (
    <form onSubmit={submit}>
      <input
        className="input"
        data-key="filter"
        aria-label={label}
        placeholder={label}
        value={text}
        onBlur={() => text.trim() !== value && onChange(text.trim())}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}
