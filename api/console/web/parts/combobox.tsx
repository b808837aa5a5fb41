import { ChevronDown, X } from "lucide-react";
import { type ReactElement, useId } from "react";
import { ComboboxList, type Found, type Option } from "./combobox-list.tsx";
import { describedBy, Remarks } from "./remarks.tsx";
import { useOpenList } from "./use-open-list.ts";

type ComboboxProps = {
  readonly label: string;
  /** Without a label above it the field says its label in its placeholder. */
  readonly isBare?: boolean | undefined;
  readonly value: string;
  /** Words for the value. */
  readonly shown: string;
  readonly placeholder: string;
  readonly hint?: string | undefined;
  readonly fault?: string | undefined;
  readonly found: Found;
  /** What is typed; undefined while the list is closed. */
  readonly onSeek: (text: string | undefined) => void;
  readonly onChoose: (option: Option) => void;
  /** Undefined if something has to be chosen. */
  readonly onClear: (() => void) | undefined;
  readonly onRetry: () => void;
};

/** A field whose value is chosen from a list by typing a part of its name. Escape closes the list and nothing else. */
export function Combobox(props: ComboboxProps): ReactElement {
  const { label, isBare = false, hint, fault, found, value } = props;
  const id = useId();
  const list = useOpenList(props);
  return (
    <div className={isBare ? "field bare" : "field"}>
      {!isBare && (
        <label className="label" htmlFor={id}>
          {label}
        </label>
      )}
      <div className="combobox">
        <input
          id={id}
          className="input"
          {...(isBare ? { "data-key": "filter", "aria-label": label } : {})}
          {...list.input}
          placeholder={list.isOpen && props.shown !== "" ? props.shown : props.placeholder}
          aria-controls={`${id}-list`}
          aria-activedescendant={
            list.isOpen && found.options.length > 0 ? `${id}-${list.at}` : undefined
          }
          aria-invalid={fault !== undefined}
          aria-describedby={describedBy(id, { hint, fault })}
        />
        <EndMark label={label} onClear={value === "" ? undefined : props.onClear} />
        {list.isOpen && (
          <ComboboxList
            {...{ id, label, value, found }}
            at={list.at}
            onPoint={list.point}
            onChoose={list.choose}
            onRetry={props.onRetry}
          />
        )}
      </div>
      <Remarks id={id} hint={hint} fault={fault} />
    </div>
  );
}

/** A button that clears the field, else the mark of a list. */
function EndMark({
  label,
  onClear,
}: {
  readonly label: string;
  readonly onClear: (() => void) | undefined;
}): ReactElement {
  if (onClear === undefined) return <ChevronDown size={14} aria-hidden className="combobox-mark" />;
  return (
    <button
      type="button"
      className="chip-button"
      aria-label={`Clear ${label.toLowerCase()}`}
      onClick={onClear}
    >
      <X size={14} aria-hidden />
    </button>
  );
}
