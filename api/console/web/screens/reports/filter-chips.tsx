import { Popover } from "@base-ui/react/popover";
import { Plus, X } from "lucide-react";
import { type FormEvent, type ReactElement, useState } from "react";
import type { CountedWithin } from "../../client/dimension-values.ts";
import type { Dimension } from "../../client/reports.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { isNamed, useValueNames } from "./named-values.ts";
import { type GivenValues, ValueChoice, valuesOf } from "./value-choice.tsx";

/** Operators of the API in words. */
const OPERATORS: Readonly<Record<string, string>> = {
  in: "is",
  not_in: "is not",
  contains: "contains",
  not_contains: "does not contain",
  starts_with: "starts with",
  empty: "is empty",
  not_empty: "is not empty",
};
/** Servers and proxies accept addresses of 8 KiB, and a report has other parameters, too. */
const LENGTH_MAX = 6_000;
const VALUES_SHOWN = 3;
const NOTHING_GIVEN: GivenValues = { chosen: [], typed: "" };
const WITHOUT_VALUE: ReadonlySet<string> = new Set(["empty", "not_empty"]);

/** The filters of a report, each removable, and a small form for another one. */
export function FilterChips({
  filters,
  dimensions,
  range,
  onChange,
}: {
  readonly filters: readonly string[];
  readonly dimensions: readonly Dimension[];
  /** Values to choose from are counted in this range and with the filters. Without it, in the last 30 days. */
  readonly range?: CountedWithin;
  readonly onChange: (filters: string[]) => void;
}): ReactElement {
  return (
    <div className="row wrap">
      {filters.map((filter, at) => (
        <Chip
          key={filter}
          filter={filter}
          dimensions={dimensions}
          onRemove={() => onChange(filters.filter((_, index) => index !== at))}
        />
      ))}
      <AddFilter
        dimensions={dimensions}
        room={LENGTH_MAX - lengthOf(filters)}
        within={(dimension) => range && withinOf(range, filters, dimension)}
        onAdd={(filter) => onChange([...filters, filter])}
      />
    </div>
  );
}

function Chip({
  filter,
  dimensions,
  onRemove,
}: {
  readonly filter: string;
  readonly dimensions: readonly Dimension[];
  readonly onRemove: () => void;
}): ReactElement {
  const [name = "", operator = "", ...rest] = filter.split(":");
  const label = dimensions.find((one) => one.name === name)?.label ?? name;
  const values = rest.join(":").split("|").map(decoded);
  const names = useValueNames(name, values.slice(0, VALUES_SHOWN));
  const more = values.length > VALUES_SHOWN ? ` and ${values.length - VALUES_SHOWN} more` : "";
  const words = `${label} ${OPERATORS[operator] ?? operator} ${names.join(", ")}${more}`;
  return (
    <span className="badge" title={words}>
      <StrangerText text={words} />
      <button
        type="button"
        className="chip-button"
        aria-label={`Remove the filter ${words}`}
        onClick={onRemove}
      >
        <X size={12} aria-hidden />
      </button>
    </span>
  );
}

function AddFilter({
  dimensions,
  room,
  within,
  onAdd,
}: {
  readonly dimensions: readonly Dimension[];
  readonly within: (dimension: string) => CountedWithin | undefined;
  /** How long another filter may be in the address. */
  readonly room: number;
  readonly onAdd: (filter: string) => void;
}): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const [dimension, setDimension] = useState(dimensions[0]?.name ?? "");
  const [operator, setOperator] = useState("in");
  const [given, setGiven] = useState(NOTHING_GIVEN);
  const found = dimensions.find(({ name }) => name === dimension);
  const operators = operatorsOf(found);
  const chosen = operators.includes(operator) ? operator : (operators[0] ?? "in");
  const hasValue = !WITHOUT_VALUE.has(chosen);
  const values = found === undefined ? [] : valuesOf(found, given);
  const filter = hasValue
    ? `${dimension}:${chosen}:${values.map(encodeURIComponent).join("|")}`
    : `${dimension}:${chosen}`;
  const isTooLong = lengthOf([filter]) > room;
  const add = (event: FormEvent): void => {
    event.preventDefault();
    onAdd(filter);
    setOpen(false);
    setGiven(NOTHING_GIVEN);
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className="button plain">
        <Plus size={14} aria-hidden /> Filter
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className="above" sideOffset={4} align="start">
          <Popover.Popup className="popup" aria-label="New filter">
            <form className="stack tight" onSubmit={add}>
              <select
                className="select"
                aria-label="Dimension"
                value={dimension}
                onChange={(event) => {
                  setDimension(event.currentTarget.value);
                  setGiven(NOTHING_GIVEN);
                }}
              >
                {dimensions.map(({ name, label }) => (
                  <option key={name} value={name}>
                    {label}
                  </option>
                ))}
              </select>
              <select
                className="select"
                aria-label="Operator"
                value={chosen}
                onChange={(event) => setOperator(event.currentTarget.value)}
              >
                {operators.map((name) => (
                  <option key={name} value={name}>
                    {OPERATORS[name] ?? name}
                  </option>
                ))}
              </select>
              {hasValue && found !== undefined && (
                <ValueChoice
                  dimension={found}
                  given={given}
                  within={within(found.name)}
                  onChange={setGiven}
                />
              )}
              {isTooLong && (
                <p className="fault" role="alert">
                  These filters are too long for an address: give fewer or shorter values.
                </p>
              )}
              <button
                type="submit"
                className="button first"
                disabled={isTooLong || (hasValue && values.length === 0)}
              >
                Add
              </button>
            </form>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Another filter of the same dimension would leave out the values that are sought. */
function withinOf(
  range: CountedWithin,
  filters: readonly string[],
  dimension: string,
): CountedWithin {
  const others = filters.filter((filter) => !filter.startsWith(`${dimension}:`));
  return others.length === 0 ? range : { ...range, filters: others.join(",") };
}

/** What is chosen by name is compared as a whole. */
function operatorsOf(dimension: Dimension | undefined): readonly string[] {
  if (dimension === undefined) return [];
  const whole = new Set(["in", "not_in", ...WITHOUT_VALUE]);
  return dimension.operators.filter((one) => !isNamed(dimension) || whole.has(one));
}

function lengthOf(filters: readonly string[]): number {
  return encodeURIComponent(filters.join(",")).length;
}

/** The address of a person may be cut anywhere. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
