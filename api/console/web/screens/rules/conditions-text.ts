import { groupIn, isEmpty, textIn } from "../../records/form-draft.ts";

const LENGTH_MAX = 80;

/** Conditions in a few words for a list, such as "countries DE, AT; offers 3". The record itself shows all of them. */
export function conditionsText(conditions: object): string {
  const words = Object.entries(conditions)
    .filter(([, value]) => !isEmpty(value))
    .map(
      ([name, value]) => `${name.replace(/_ids$/, "s").replaceAll("_", " ")} ${valueText(value)}`,
    );
  const text = words.join("; ");
  return text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX - 1)}…` : text;
}

function valueText(value: unknown): string {
  const named = Object.entries(groupIn(value));
  return named.length === 0
    ? textIn(value)
    : named.map(([name, texts]) => `${name}: ${textIn(texts)}`).join(", ");
}
