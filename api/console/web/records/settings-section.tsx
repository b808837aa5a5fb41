import type { ReactElement, ReactNode } from "react";
import { useRecord } from "../client/records.ts";
import { useMembership } from "../member/membership.ts";
import { useWrite } from "../member/use-write.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { FieldSection } from "./field-section.tsx";
import type { FormField, RecordBody } from "./form-field.ts";

/** Settings of a record, which the API keeps apart from the record itself. */
export function SettingsSection<Settings extends object>({
  title,
  name,
  id,
  fields,
  load,
  save,
  mayWrite,
  children,
}: {
  readonly title: string;
  /** With the ID it is the key of the answer. */
  readonly name: string;
  readonly id: number;
  readonly fields: readonly FormField[];
  readonly load: (signal: AbortSignal) => Promise<Settings>;
  readonly save: (body: RecordBody) => Promise<unknown>;
  readonly mayWrite: boolean;
  /** What is read in place of the fields. */
  readonly children?: ReactNode;
}): ReactElement {
  const settings = useRecord(useMembership(), { name, id, load });
  const write = useWrite([name], save);
  if (settings.data === undefined)
    return (
      <section className="panel stack">
        <h2>{title}</h2>
        {settings.isError && <ProblemNotice error={settings.error} />}
      </section>
    );
  return (
    <FieldSection
      title={title}
      fields={fields}
      record={settings.data}
      onSave={mayWrite ? write.mutateAsync : undefined}
    >
      {children}
    </FieldSection>
  );
}
