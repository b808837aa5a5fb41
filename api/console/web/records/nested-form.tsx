import { type FormEvent, type ReactElement, useEffect, useRef, useState } from "react";
import { missingProblem, Problem } from "../client/problem.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { useUnsaved } from "../parts/unsaved.ts";
import { FieldControls } from "./field-control.tsx";
import { changedBody, draftOf, isAt, leafPaths, missingFaults } from "./form-draft.ts";
import type { FormField, RecordBody } from "./form-field.ts";

export type FormProps<Body> = {
  readonly fields: readonly FormField[];
  /** What stands in the fields at the beginning, such as the record. */
  readonly initial?: object;
  /** The word on the button. */
  readonly submit: string;
  /** Declared as a method, so that `RecordForm` can be this form with a narrower body. */
  onSubmit(body: Body): Promise<unknown>;
  readonly onCancel?: (() => void) | undefined;
};

/**
 * A form for some fields of a record. Only what was changed is sent. Faults that the API finds stand at their fields, and nothing that was
 * typed is lost.
 */
export function NestedForm(props: FormProps<RecordBody>): ReactElement {
  const { fields, initial = {}, submit, onCancel } = props;
  const [before] = useState(() => draftOf(fields, initial));
  const [draft, setDraft] = useState(before);
  const [saved, setSaved] = useState(before);
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const faults = error instanceof Problem ? error.fields : {};
  useEffect(() => {
    if (error === undefined) return;
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  useUnsaved(Object.keys(changedBody(fields, draft, saved)).length > 0, isSending);
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const missing = missingFaults(fields, draft);
    if (Object.keys(missing).length > 0) {
      setError(missingProblem(missing));
      return;
    }
    setSending(true);
    setError(undefined);
    try {
      await props.onSubmit(changedBody(fields, draft, before));
      setSaved(draft);
    } catch (failure) {
      setError(failure);
    } finally {
      setSending(false);
    }
  };
  return (
    <form className="stack" ref={form} onSubmit={(event) => void send(event)} noValidate>
      <FieldControls fields={fields} draft={draft} faults={faults} path="" onChange={setDraft} />
      {error !== undefined && (
        <ProblemNotice
          error={error}
          isShown={(name) => leafPaths(fields, draft).some((path) => isAt(name, path))}
        />
      )}
      <div className="row">
        <button type="submit" className="button first" disabled={isSending}>
          {submit}
        </button>
        {onCancel !== undefined && (
          <button type="button" className="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}
