import { type ReactElement, useId, useState } from "react";
import { formatCount } from "../format/figure.ts";
import { AreaField } from "../parts/area-field.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";

const MEBIBYTE = 1024 ** 2;
const MEBIBYTES_MAX = 64;
const KILOBYTE = 1_000;
/** The first line of a file is within this. */
const BEGINNING_BYTES = 65_536;
const ROWS = 6;

export type ChosenFile = {
  readonly content: Blob;
  /** "" for pasted text. */
  readonly name: string;
  readonly beginning: string;
};

/** A file of this computer, which is never read as a whole, or pasted text. */
export function FileSource({
  chosen,
  onChange,
}: {
  readonly chosen: ChosenFile | undefined;
  readonly onChange: (chosen: ChosenFile | undefined) => void;
}): ReactElement {
  const id = useId();
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const isTooLarge = file.size > MEBIBYTES_MAX * MEBIBYTE;
    setFault(
      isTooLarge ? `The file has more than ${MEBIBYTES_MAX} MiB. Split it into several.` : "",
    );
    setText("");
    const beginning = isTooLarge ? "" : await file.slice(0, BEGINNING_BYTES).text();
    onChange(isTooLarge ? undefined : { content: file, name: file.name, beginning });
  };
  const paste = (pasted: string): void => {
    setText(pasted);
    setFault("");
    onChange(
      pasted.trim() === ""
        ? undefined
        : {
            content: new Blob([pasted]),
            name: "",
            beginning: pasted.slice(0, BEGINNING_BYTES),
          },
    );
  };
  return (
    <>
      <div className="field">
        <label className="label" htmlFor={id}>
          File
        </label>
        <input
          id={id}
          type="file"
          accept=".csv,.json,.jsonl,.ndjson,text/csv,text/plain,application/json"
          aria-describedby={fault === "" ? undefined : `${id}-fault`}
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
        {chosen !== undefined && chosen.name !== "" && (
          <span className="hint break">
            <StrangerText text={chosen.name} />,{" "}
            {formatCount(Math.ceil(chosen.content.size / KILOBYTE))} kB
          </span>
        )}
        {fault !== "" && (
          <span className="fault" id={`${id}-fault`} role="alert">
            {fault}
          </span>
        )}
      </div>
      <AreaField label="Or pasted text" rows={ROWS} value={text} onChange={paste} />
    </>
  );
}
