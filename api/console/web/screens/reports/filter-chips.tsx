import { Popover } from "@base-ui/react/popover";
import { Plus, X } from "lucide-react";
import { type FormEvent, type ReactElement, useState } from "react";
import type { Dimension } from "../../client/reports.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";

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
const WITHOUT_VALUE: ReadonlySet<string> = new Set(["empty", "not_empty"]);

/** The filters of a report, each removable, and a small form for another one. */
export function FilterChips({
  filters,
  dimensions,
  onChange,
}: {
  readonly filters: readonly string[];
  readonly dimensions: readonly Dimension[];
  readonly onChange: (filters: string[]) => void;
}): ReactElement {
  return (
    <div className="row wrap">
      {filters.map((filter, at) => (
        <span key={filter} className="badge" title={wordsOf(filter, dimensions)}>
          <StrangerText text={wordsOf(filter, dimensions)} />
          <button
            type="button"
            className="chip-button"
            aria-label={`Remove the filter ${wordsOf(filter, dimensions)}`}
            onClick={() => onChange(filters.filter((_, index) => index !== at))}
          >
            <X size={12} aria-hidden />
          </button>
        </span>
      ))}
      <AddFilter
        dimensions={dimensions}
        room={LENGTH_MAX - lengthOf(filters)}
        onAdd={(filter) => onChange([...filters, filter])}
      />
    </div>
  );
}

function AddFilter({
  dimensions,
  room,
  onAdd,
}: {
  readonly dimensions: readonly Dimension[];
  /** How long another filter may be in the address. */
  readonly room: number;
  readonly onAdd: (filter: string) => void;
}): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const [dimension, setDimension] = useState(dimensions[0]?.name ?? "");
  const [operator, setOperator] = useState("in");
  const [value, setValue] = useState("");
  const operators = dimensions.find(({ name }) => name === dimension)?.operators ?? [];
  const chosen = operators.includes(operator) ? operator : (operators[0] ?? "in");
  const hasValue = !WITHOUT_VALUE.has(chosen);
  const filter = hasValue
    ? `${dimension}:${chosen}:${value.split("|").map(encodeURIComponent).join("|")}`
    : `${dimension}:${chosen}`;
  const isTooLong = lengthOf([filter]) > room;
  const add = (event: FormEvent): void => {
    event.preventDefault();
    onAdd(filter);
    setOpen(false);
    setValue("");
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className="button plain">
        <Plus size={14} aria-hidden /> Filter
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="start">
          <Popover.Popup className="popup" aria-label="New filter">
            <form className="stack tight" onSubmit={add}>
              <select
                className="select"
                aria-label="Dimension"
                value={dimension}
                onChange={(event) => setDimension(event.currentTarget.value)}
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
              {hasValue && (
                <input
                  className="input"
                  aria-label="Value; several with |"
                  placeholder="Value; several with |"
                  value={value}
                  onChange={(event) => setValue(event.currentTarget.value)}
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
                disabled={isTooLong || (hasValue && value === "")}
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

function lengthOf(filters: readonly string[]): number {
  return encodeURIComponent(filters.join(",")).length;
}

function wordsOf(filter: string, dimensions: readonly Dimension[]): string {
  const [name = "", operator = "", ...rest] = filter.split(":");
  const label = dimensions.find((one) => one.name === name)?.label ?? name;
  const words = OPERATORS[operator] ?? operator;
  const values = rest.join(":").split("|").map(decoded);
  const more = values.length > VALUES_SHOWN ? ` and ${values.length - VALUES_SHOWN} more` : "";
  return `${label} ${words} ${values.slice(0, VALUES_SHOWN).join(", ")}${more}`;
}

/** The address of a person may be cut anywhere. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
