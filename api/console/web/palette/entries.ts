/** A line of the palette. */
export type Entry = {
  readonly key: string;
  /** The heading that it stands below. */
  readonly group: string;
  readonly title: string;
  readonly detail: string;
  /** Undefined for what is no address, such as a theme. */
  readonly path: string | undefined;
  readonly run: () => void;
};

/** Entries in which every word of the text occurs. */
export function matching(entries: readonly Entry[], text: string): readonly Entry[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return entries.filter(({ group, title, detail }) => {
    const whole = `${group} ${title} ${detail}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

/** Entries by their headings, in the order in which these appear. */
export function grouped(entries: readonly Entry[]): readonly (readonly [string, Entry[]])[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const group = groups.get(entry.group);
    if (group === undefined) groups.set(entry.group, [entry]);
    else group.push(entry);
  }
  return [...groups];
}
