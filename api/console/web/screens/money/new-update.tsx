import { type ReactElement, useState } from "react";
import { offerIdChoices } from "../../client/choices.ts";
import { type ChosenFile, FileSource } from "../../imports/file-source.tsx";
import { CheckList } from "../../parts/check-list.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { RecordsChoice } from "../../records/records-choice.tsx";
import type { SentUpdate } from "./use-updates.ts";

const REJECT = "reject";

/** A file, and what it is about. */
export function NewUpdate({
  file,
  onFile,
  isSending,
  onSend,
}: {
  readonly file: ChosenFile | undefined;
  readonly onFile: (file: ChosenFile | undefined) => void;
  readonly isSending: boolean;
  readonly onSend: (asked: Omit<SentUpdate, "columns">) => void;
}): ReactElement {
  const [offerIds, setOfferIds] = useState<readonly string[]>([]);
  const [options, setOptions] = useState<readonly string[]>([]);
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const rejects = options.includes(REJECT);
  const isOff =
    file === undefined ||
    isSending ||
    (rejects && (from === "" || to === "" || offerIds.length === 0));
  return (
    <section className="panel stack" aria-label="New file">
      <p className="muted">
        CSV or JSON lines. A row names a conversion by its ID, by offer and order number, or by
        click ID, and says what it becomes: status, amounts, a reason or a note. Usual names of
        columns are recognised.
      </p>
      <FileSource chosen={file} onChange={onFile} />
      <RecordsChoice
        label="Offers of the file"
        load={offerIdChoices}
        chosen={offerIds}
        hint="With a single offer, rows need only the order number."
        fault={undefined}
        onChange={setOfferIds}
      />
      <CheckList
        label="Conversions that the file does not name"
        chosen={options}
        choices={[[REJECT, "Reject them, for these offers and days"]]}
        fault={undefined}
        onChange={setOptions}
      />
      {rejects && (
        <div className="row wrap">
          <TextField label="From" type="date" value={from} onChange={setFrom} />
          <TextField label="Until" type="date" value={to} onChange={setTo} />
        </div>
      )}
      <div className="row wrap">
        <button
          type="button"
          className="button first"
          disabled={isOff}
          onClick={() =>
            file !== undefined &&
            onSend({
              content: file.content,
              name: file.name,
              offerIds,
              missing: rejects ? { from, to } : undefined,
            })
          }
        >
          Check the file
        </button>
        {isSending && <span role="status">Sending the file</span>}
        {rejects && offerIds.length === 0 && (
          <span className="muted">Choose the offers and the days first.</span>
        )}
      </div>
    </section>
  );
}
