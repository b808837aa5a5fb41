/** Sentences by the name of a field; field-notes.ts defines the names. */
export type Notes = Readonly<Record<string, string>>;
