import { type InputHTMLAttributes, type KeyboardEvent, useState } from "react";
import type { Found, Option } from "./combobox-list.tsx";
import { steppedByKey } from "./list-steps.ts";

type Seeking = {
  readonly value: string;
  readonly shown: string;
  readonly found: Found;
  readonly onSeek: (text: string | undefined) => void;
  readonly onChoose: (option: Option) => void;
  readonly onRetry: () => void;
};

type OpenList = {
  readonly isOpen: boolean;
  /** The line that is reached. */
  readonly at: number;
  readonly point: (at: number) => void;
  readonly choose: (option: Option) => void;
  /** For the field. */
  readonly input: InputHTMLAttributes<HTMLInputElement>;
};

/** A list below a field: what is typed while it is open, which line is reached, and what the keys do. */
export function useOpenList({ value, shown, found, onSeek, onChoose, onRetry }: Seeking): OpenList {
  const [text, setText] = useState<string>();
  const [reached, setReached] = useState<number>();
  const { options, state } = found;
  const isOpen = text !== undefined;
  const chosenAt = text === "" ? options.findIndex((one) => one.value === value) : 0;
  const at = Math.max(0, Math.min(reached ?? chosenAt, options.length - 1));
  const seek = (next: string | undefined): void => {
    setText(next);
    setReached(undefined);
    onSeek(next);
  };
  const choose = (option: Option): void => {
    seek(undefined);
    onChoose(option);
  };
  const enter = (): void => {
    const option = options[at];
    if (state === "failed") onRetry();
    // While the answer is awaited, Enter would choose what the person has not seen.
    else if (state !== "searching" && option !== undefined) choose(option);
  };
  const press = (event: KeyboardEvent<HTMLInputElement>): void => {
    const next = steppedByKey(event.key, at, options.length);
    // Typing replaces the name that stands there.
    if (!isOpen && isTyping(event)) event.currentTarget.select();
    if (isOpen && event.key === "Enter") enter();
    else if (isOpen && event.key === "Escape") seek(undefined);
    else if (isOpen && next !== undefined) setReached(next);
    else if (!isOpen && event.key.startsWith("Arrow") && next !== undefined) seek("");
    else return;
    event.preventDefault();
    // A drawer closes by the same key.
    event.stopPropagation();
  };
  return {
    isOpen,
    at,
    point: setReached,
    choose,
    input: {
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-expanded": isOpen,
      autoComplete: "off",
      spellCheck: false,
      value: text ?? shown,
      onClick: () => {
        if (!isOpen) seek("");
      },
      onBlur: () => {
        if (isOpen) seek(undefined);
      },
      onChange: (event) => seek(event.currentTarget.value),
      onKeyDown: press,
    },
  };
}

function isTyping({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (key.length === 1 || key === "Backspace") && !ctrlKey && !metaKey && !altKey;
}
