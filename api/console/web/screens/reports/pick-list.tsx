import { Popover } from "@base-ui/react/popover";
import { ChevronDown } from "lucide-react";
import { type ReactElement, useState } from "react";

type Option = { readonly name: string; readonly label: string; readonly definition: string };

/** Chooses several of a list, in the order in which they were chosen. Typing narrows the list. */
export function PickList({
  label,
  options,
  chosen,
  max,
  onChange,
}: {
  readonly label: string;
  readonly options: readonly Option[];
  readonly chosen: readonly string[];
  readonly max?: number;
  readonly onChange: (chosen: string[]) => void;
}): ReactElement {
  const [sought, setSought] = useState("");
  const shown = options.filter((one) => matches(one, sought));
  const toggle = (name: string): void =>
    onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  const names = chosen.map((name) => options.find((one) => one.name === name)?.label ?? name);
  return (
    <Popover.Root onOpenChange={() => setSought("")}>
      <Popover.Trigger className="button">
        <span className="muted">{label}</span>{" "}
        {names.length > 3 ? `${names.length} chosen` : names.join(", ")}
        <ChevronDown size={14} aria-hidden />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className="above" sideOffset={4} align="start">
          <Popover.Popup className="popup" aria-label={label}>
            <input
              className="input"
              aria-label={`Find in ${label}`}
              placeholder="Find"
              value={sought}
              onChange={(event) => setSought(event.currentTarget.value)}
            />
            <div className="pick-list">
              {shown.map(({ name, label: title, definition }) => {
                const isChosen = chosen.includes(name);
                const isFull = max !== undefined && chosen.length >= max && !isChosen;
                return (
                  <label key={name} title={definition}>
                    <input
                      type="checkbox"
                      checked={isChosen}
                      disabled={isFull}
                      onChange={() => toggle(name)}
                    />
                    {title}
                  </label>
                );
              })}
            </div>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function matches({ name, label }: Option, sought: string): boolean {
  const text = sought.toLowerCase();
  return label.toLowerCase().includes(text) || name.includes(text);
}
