/** Sentences by the name of a field (field-notes.ts says which names). */
export type Notes = Readonly<Record<string, string>>;
