import { type ReactElement, useState } from "react";
import { CheckList } from "../parts/check-list.tsx";
import { ChoiceField } from "../parts/choice-field.tsx";
import { Drawer } from "../parts/drawer.tsx";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { type ChosenFile, FileSource } from "./file-source.tsx";
import { type FileForm, guessForm } from "./guess-file.ts";
import { ImportState } from "./import-state.tsx";
import { type ImportKind, KINDS } from "./import-words.ts";
import { RecentImports } from "./recent-imports.tsx";
import { useSend } from "./use-imports.ts";

const EMPTY: FileForm = { format: "csv", delimiter: "," };

/** Sends a file to be checked or imported, and shows the file's import or an earlier one. */
export function ImportDrawer({
  kind,
  shown,
  onShow,
  onClose,
}: {
  readonly kind: ImportKind;
  /** The import that is shown. */
  readonly shown: number | undefined;
  readonly onShow: (id: number) => void;
  readonly onClose: () => void;
}): ReactElement {
  const { plural, foundBy } = KINDS[kind];
  const [file, setFile] = useState<ChosenFile>();
  const [form, setForm] = useState<FileForm>(EMPTY);
  const [options, setOptions] = useState<readonly string[]>([]);
  const send = useSend(kind);
  const choose = (chosen: ChosenFile | undefined): void => {
    setFile(chosen);
    if (chosen !== undefined) setForm(guessForm(chosen.name, chosen.beginning));
  };
  const start = (isDryRun: boolean): void => {
    if (file === undefined) return;
    const { content, name } = file;
    send.mutate({ ...form, content, name, options, isDryRun }, { onSuccess: onShow });
  };
  const isOff = file === undefined || send.isPending;
  return (
    <Drawer title={`Import ${plural}`} onClose={onClose}>
      <p className="muted">
        CSV with a header line of field names, a JSON array or JSON lines, in UTF-8. The names are
        those of the API. Nothing is written if a row has a fault, unless such rows are left out.
      </p>
      <FileSource chosen={file} onChange={choose} />
      <FormFields form={form} onChange={setForm} />
      <CheckList
        label="Options"
        chosen={options}
        choices={[
          ["update", `Change existing ${plural}, found by their ${foundBy}`],
          ["skip_faulty", "Skip invalid rows"],
        ]}
        fault={undefined}
        onChange={setOptions}
      />
      <div className="row wrap">
        <button type="button" className="button" disabled={isOff} onClick={() => start(true)}>
          Check
        </button>
        <button
          type="button"
          className="button first"
          disabled={isOff}
          onClick={() => start(false)}
        >
          Import
        </button>
        {send.isPending && <span role="status">Sending the file</span>}
      </div>
      {send.isError && <ProblemNotice error={send.error} />}
      {shown !== undefined && <ImportState key={shown} id={shown} kind={kind} />}
      <RecentImports kind={kind} onOpen={onShow} />
    </Drawer>
  );
}

function FormFields({
  form,
  onChange,
}: {
  readonly form: FileForm;
  readonly onChange: (form: FileForm) => void;
}): ReactElement {
  return (
    <div className="row wrap">
      <ChoiceField
        label="Format"
        value={form.format}
        choices={[
          ["csv", "CSV"],
          ["json", "JSON or JSON lines"],
        ]}
        onChange={(format) => onChange({ ...form, format: format === "json" ? "json" : "csv" })}
      />
      {form.format === "csv" && (
        <ChoiceField
          label="Cells are separated by"
          value={form.delimiter}
          choices={[
            [",", "Comma"],
            [";", "Semicolon"],
            ["tab", "Tab"],
          ]}
          onChange={(delimiter) =>
            onChange({
              ...form,
              delimiter: delimiter === ";" || delimiter === "tab" ? delimiter : ",",
            })
          }
        />
      )}
    </div>
  );
}
