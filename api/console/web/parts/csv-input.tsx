import { type ReactElement, useId, useState } from "react";
import { AreaField } from "./area-field.tsx";

const MEGABYTE = 1_000_000;
const ROWS = 10;

/** CSV that is pasted, or read from a file of this computer. */
export function CsvInput({
  label,
  text,
  onChange,
  megabytesMax,
}: {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly megabytesMax: number;
}): ReactElement {
  const id = useId();
  const [fault, setFault] = useState("");
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const isTooLarge = file.size > megabytesMax * MEGABYTE;
    setFault(isTooLarge ? `The file has more than ${megabytesMax} MB. Split it into several.` : "");
    if (!isTooLarge) onChange(await file.text());
  };
  return (
    <>
      <AreaField label={label} rows={ROWS} value={text} onChange={onChange} />
      <div className="field">
        <label className="label" htmlFor={id}>
          Or a file
        </label>
        <input
          id={id}
          type="file"
          accept=".csv,text/csv,text/plain"
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
        {fault !== "" && (
          <span className="fault" role="alert">
            {fault}
          </span>
        )}
      </div>
    </>
  );
}
