type Value = string | number | boolean;
export type Fact = readonly [name: string, stored: Value, own: Value];

/** One sentence for each fact on which the service and the ledger differ. */
export function differing(where: string, facts: readonly Fact[]): string[] {
  return facts
    .filter(([, stored, own]) => stored !== own)
    .map(
      ([name, stored, own]) =>
        `${where}: ${name} is ${JSON.stringify(stored)}, the ledger has ${JSON.stringify(own)}`,
    );
}
