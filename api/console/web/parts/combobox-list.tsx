import { type ReactElement, useEffect, useRef } from "react";
import { StrangerText } from "./stranger-text.tsx";

/** `detail` tells options of the same name apart. */
export type Option = {
  readonly value: string;
  readonly words: string;
  readonly detail: string;
  /** Chosen before in this tab. */
  readonly isRecent: boolean;
};

/** What the text of a field has found. With "more" there is more than the list shows. */
export type Found = {
  readonly options: readonly Option[];
  readonly state: "searching" | "whole" | "more" | "failed";
};

/** The open list of a combobox. The focus stays in the field. */
export function ComboboxList({
  id,
  label,
  value,
  found: { options, state },
  at,
  onPoint,
  onChoose,
  onRetry,
}: {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly found: Found;
  readonly at: number;
  readonly onPoint: (at: number) => void;
  readonly onChoose: (option: Option) => void;
  readonly onRetry: () => void;
}): ReactElement {
  const popup = useRef<HTMLDivElement>(null);
  useEffect(() => {
    popup.current?.scrollIntoView({ block: "nearest" });
  }, []);
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [id, at]);
  const recent = options.filter(({ isRecent }) => isRecent).length;
  return (
    // A press on the list must not take the focus out of the field.
    <div
      ref={popup}
      role="presentation"
      className="combobox-popup"
      onMouseDown={(event) => event.preventDefault()}
    >
      <div id={`${id}-list`} role="listbox" aria-label={label} className="combobox-list">
        {options.map((option, place) => (
          <button
            key={option.value}
            id={`${id}-${place}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={place === at}
            aria-current={option.value === value ? "true" : undefined}
            className={place === recent - 1 ? "palette-entry last-recent" : "palette-entry"}
            onMouseMove={() => onPoint(place)}
            onClick={() => onChoose(option)}
          >
            <span className="palette-title">
              <StrangerText text={option.words} />
            </span>
            {option.detail !== "" && option.detail !== option.words && (
              <span className="muted">
                <StrangerText text={option.detail} />
              </span>
            )}
          </button>
        ))}
      </div>
      <div className="combobox-state row">
        <span className="grow" role="status">
          {stateText(state, options.length)}
        </span>
        {state === "failed" && (
          <button type="button" className="button plain" tabIndex={-1} onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

function stateText(state: Found["state"], count: number): string {
  if (state === "searching") return "Searching";
  if (state === "failed") return "The list cannot be read now.";
  if (count === 0) return "Nothing found";
  return state === "more" ? "Type to find more" : `${count} found`;
}
