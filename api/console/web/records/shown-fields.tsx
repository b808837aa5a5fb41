import type { ReactElement, ReactNode } from "react";
import type { LoadChoices } from "../client/choices.ts";
import { formatInstant } from "../format/time.ts";
import { useMembership } from "../member/membership.ts";
import { type Fact, Facts } from "../parts/facts.tsx";
import { SafeLink } from "../parts/safe-link.tsx";
import { StatusBadge } from "../parts/status-badge.tsx";
import { groupIn, isEmpty, rowsIn, textIn } from "./form-draft.ts";
import type { FormField } from "./form-field.ts";
import { RecordName } from "./record-name.tsx";

/** A record as its form would show it, for reading. Empty fields are left out. */
export function ShownFields({
  fields,
  record,
}: {
  readonly fields: readonly FormField[];
  readonly record: unknown;
}): ReactElement {
  const { zone } = useMembership();
  const values = groupIn(record);
  const facts = fields.flatMap((field): Fact[] => {
    const value = values[field.name];
    const isLeftOut = isEmpty(value) && field.kind !== "flag";
    if (isLeftOut || isOfOther(field, values)) return [];
    return [[field.label, shownValue(field, value, zone)]];
  });
  return <Facts facts={facts} />;
}

/** Whether another field has a value for which the form does not ask for this one. */
function isOfOther({ onlyFor }: FormField, values: Readonly<Record<string, unknown>>): boolean {
  return onlyFor !== undefined && textIn(values[onlyFor.name]) !== onlyFor.value;
}

function shownValue(field: FormField, value: unknown, zone: string): ReactNode {
  const { kind, load, fields = [] } = field;
  switch (kind) {
    case "group":
      return <ShownFields fields={fields} record={value} />;
    case "rows":
      return (
        <ol className="plain-list">
          {rowsIn(value).map((row, index) => (
            <li key={index}>
              <ShownFields fields={fields} record={row} />
            </li>
          ))}
        </ol>
      );
    case "lists":
    case "texts":
      return (
        <Facts
          facts={Object.entries(groupIn(value)).map(
            ([name, texts]) => [name, textIn(texts)] as const,
          )}
        />
      );
    case "record":
    case "records":
      return <Names load={load} ids={kind === "record" ? [value] : rowsIn(value)} />;
    case "address":
      return <SafeLink href={textIn(value)} />;
    case "flag":
      return value === true ? "Yes" : "No";
    case "time":
      return formatInstant(textIn(value), zone);
    default:
      return leafText(field, value);
  }
}

function leafText({ name, load, choices = [] }: FormField, value: unknown): ReactNode {
  if (load !== undefined) return <Names load={load} ids={Array.isArray(value) ? value : [value]} />;
  if (name === "status") return <StatusBadge status={textIn(value)} />;
  const words = new Map(choices.map(([one, text]) => [one, text] as const));
  if (Array.isArray(value))
    return value.map((one) => words.get(textIn(one)) ?? textIn(one)).join(", ");
  return words.get(textIn(value)) ?? shortDecimal(textIn(value));
}

/** Four decimals, as the API writes amounts and rates, end with the second if the others are zero. */
function shortDecimal(text: string): string {
  return /^-?\d+\.\d{4}$/.test(text) ? text.replace(/00$/, "") : text;
}

function Names({
  load,
  ids,
}: {
  readonly load: LoadChoices | undefined;
  readonly ids: readonly unknown[];
}): ReactElement {
  return (
    <ul className="plain-list">
      {ids.map(textIn).map((id) => (
        <li key={id}>{load === undefined ? id : <RecordName of={load} id={id} />}</li>
      ))}
    </ul>
  );
}
