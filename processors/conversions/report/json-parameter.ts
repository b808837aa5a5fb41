/** Text that JSON can contain and `jsonb` cannot: NUL and lone surrogates. */
const SUSPECT = /\\u(?:0000|d[89a-f][0-9a-f]{2})/;
const UNSTORABLE = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A value as JSON text that Postgres accepts, whatever the sender sent. Only values are cleaned: the keys are ours. */
export function jsonParameter(value: unknown): string {
  const text = JSON.stringify(value);
  if (!SUSPECT.test(text)) return text;
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "string" ? storableText(member) : member,
  );
}

export function storableText(text: string): string {
  return text.replace(UNSTORABLE, "\ufffd");
}
