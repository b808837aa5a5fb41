import { type FormEvent, type ReactElement, useState } from "react";
import type { AddressChange } from "../address/use-address.ts";
import type { Choice, LoadChoices } from "../client/choices.ts";
import type { Query } from "../client/lists.ts";
import { mayDo, useMembership } from "../member/membership.ts";
import { DayFilter } from "./day-filter.tsx";
import { RecordChoice } from "./record-choice.tsx";

/** A filter with the name that the API gives it. Its value is one of its choices, is searched with `load`, or is a day; else it is a text. */
export type ListFilter = {
  readonly name: string;
  readonly label: string;
  readonly choices?: readonly Choice[] | undefined;
  readonly load?: LoadChoices | undefined;
  /** A day of the workspace, as `YYYY-MM-DD`. */
  readonly isDay?: true;
  /** The filter whose day comes first. */
  readonly notBefore?: string;
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
  const { zone } = useMembership();
  const valueOf = ({ name }: ListFilter): string => search.get(name) ?? "";
  return (
    <div className="row wrap filters">
      {filters.map((filter) => (
        <OneFilter
          // A text is typed anew when the address changes.
          key={isText(filter) ? `${filter.name} ${valueOf(filter)}` : filter.name}
          filter={filter}
          value={valueOf(filter)}
          firstDay={search.get(filter.notBefore ?? "") ?? ""}
          onChange={(value) => onChange({ [filter.name]: value })}
        />
      ))}
      {filters.some(({ isDay }) => isDay) && <span className="muted zone">Days in {zone}</span>}
    </div>
  );
}

function isText({ load, isDay }: ListFilter): boolean {
  return load === undefined && isDay === undefined;
}

type FilterProps = {
  readonly filter: ListFilter;
  readonly value: string;
  /** The day that this one must not be before; empty if there is none. */
  readonly firstDay: string;
  readonly onChange: (value: string) => void;
};

function OneFilter(props: FilterProps): ReactElement {
  const {
    filter: { label, choices, load, isDay },
    value,
    firstDay,
    onChange,
  } = props;
  const membership = useMembership();
  if (load?.permission !== undefined && !mayDo(membership, load.permission))
    return <TextFilter {...props} filter={{ ...props.filter, label: `${label} ID` }} />;
  if (load !== undefined)
    return <RecordChoice isBare none={`${label}: all`} {...{ label, load, value, onChange }} />;
  if (isDay) return <DayFilter {...{ label, value, firstDay, onChange }} />;
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

function TextFilter({
  filter: { label },
  value,
  onChange,
}: Omit<FilterProps, "firstDay">): ReactElement {
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
