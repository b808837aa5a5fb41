import { type FormEvent, type ReactElement, useState } from "react";
import type { AddressChange } from "../address/use-address.ts";
import type { Choice } from "../client/choices.ts";
import type { Query } from "../client/lists.ts";

/** A filter with the name that the API gives it. Without choices it takes a text. */
export type ListFilter = {
  readonly name: string;
  readonly label: string;
  readonly choices?: readonly Choice[] | undefined;
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
  return (
    <div className="row wrap filters">
      {filters.map((filter) =>
        filter.choices === undefined ? (
          <TextFilter
            key={`${filter.name} ${search.get(filter.name) ?? ""}`}
            filter={filter}
            value={search.get(filter.name) ?? ""}
            onChange={(value) => onChange({ [filter.name]: value })}
          />
        ) : (
          <select
            key={filter.name}
            className="select"
            aria-label={filter.label}
            value={search.get(filter.name) ?? ""}
            onChange={(event) => onChange({ [filter.name]: event.currentTarget.value })}
          >
            <option value="">{filter.label}: all</option>
            {filter.choices.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        ),
      )}
    </div>
  );
}

function TextFilter({
  filter: { label },
  value,
  onChange,
}: {
  readonly filter: ListFilter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactElement {
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
