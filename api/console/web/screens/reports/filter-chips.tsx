import { Popover } from "@base-ui/react/popover";
import { Plus, X } from "lucide-react";
import { type FormEvent, type ReactElement, useState } from "react";
import type { Dimension } from "../../client/reports.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";

const OPERATORS = { in: "is", not_in: "is not", contains: "contains" } as const;

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
        <span key={filter} className="badge">
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
      <AddFilter dimensions={dimensions} onAdd={(filter) => onChange([...filters, filter])} />
    </div>
  );
}

function AddFilter({
  dimensions,
  onAdd,
}: {
  readonly dimensions: readonly Dimension[];
  readonly onAdd: (filter: string) => void;
}): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const [dimension, setDimension] = useState(dimensions[0]?.name ?? "");
  const [operator, setOperator] = useState("in");
  const [value, setValue] = useState("");
  const add = (event: FormEvent): void => {
    event.preventDefault();
    onAdd(`${dimension}:${operator}:${value.split("|").map(encodeURIComponent).join("|")}`);
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
                value={operator}
                onChange={(event) => setOperator(event.currentTarget.value)}
              >
                {Object.entries(OPERATORS).map(([name, words]) => (
                  <option key={name} value={name}>
                    {words}
                  </option>
                ))}
              </select>
              <input
                className="input"
                aria-label="Value; several with |"
                placeholder="Value; several with |"
                value={value}
                onChange={(event) => setValue(event.currentTarget.value)}
              />
              <button type="submit" className="button first" disabled={value === ""}>
                Add
              </button>
            </form>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function wordsOf(filter: string, dimensions: readonly Dimension[]): string {
  const [name = "", operator = "", ...rest] = filter.split(":");
  const label = dimensions.find((one) => one.name === name)?.label ?? name;
  const words = Object.entries(OPERATORS).find(([key]) => key === operator)?.[1] ?? operator;
  return `${label} ${words} ${rest.join(":").split("|").map(decoded).join(", ")}`;
}

/** The address of a person may be cut anywhere. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
