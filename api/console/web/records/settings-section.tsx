import { type ReactElement, useState } from "react";
import { useRecord } from "../client/records.ts";
import { useMembership } from "../member/membership.ts";
import { useWrite } from "../member/use-write.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import type { FormField, RecordBody } from "./form-field.ts";
import { NestedForm } from "./nested-form.tsx";
import { ShownFields } from "./shown-fields.tsx";

/** Settings of a record, which the API keeps apart from the record itself. */
export function SettingsSection<Settings extends object>({
  title,
  name,
  id,
  fields,
  load,
  save,
  mayWrite,
}: {
  readonly title: string;
  /** With the ID it is the key of the answer. */
  readonly name: string;
  readonly id: number;
  readonly fields: readonly FormField[];
  readonly load: (signal: AbortSignal) => Promise<Settings>;
  readonly save: (body: RecordBody) => Promise<unknown>;
  readonly mayWrite: boolean;
}): ReactElement {
  const settings = useRecord(useMembership(), { name, id, load });
  const [isEditing, setEditing] = useState(false);
  const write = useWrite([name], async (body: RecordBody) => {
    await save(body);
    setEditing(false);
  });
  return (
    <section className="stack tight">
      <div className="row">
        <h3 className="grow">{title}</h3>
        {mayWrite && settings.data !== undefined && !isEditing && (
          <button
            type="button"
            className="button"
            aria-label={`Edit ${title.toLowerCase()}`}
            onClick={() => setEditing(true)}
          >
            Edit
          </button>
        )}
      </div>
      {settings.isError && <ProblemNotice error={settings.error} />}
      {settings.data !== undefined && !isEditing && (
        <ShownFields fields={fields} record={settings.data} />
      )}
      {settings.data !== undefined && isEditing && (
        <NestedForm
          fields={fields}
          initial={settings.data}
          submit={`Save ${title.toLowerCase()}`}
          onSubmit={write.mutateAsync}
          onCancel={() => setEditing(false)}
        />
      )}
    </section>
  );
}
