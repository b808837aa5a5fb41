/** Parameters of one statement, by the names that stand in its text. */
export class SqlParams {
  readonly values: Record<string, unknown> = {};
  readonly #names = new Map<string, string>();

  /** The place of a value in the text. Equal values of a type share one parameter. */
  of(type: string, value: unknown): string {
    const key = `${type} ${JSON.stringify(value)}`;
    const prefix = type.replaceAll(/[()]/g, "").toLowerCase();
    const name = this.#names.get(key) ?? `${prefix}_${this.#names.size}`;
    this.#names.set(key, name);
    this.values[name] = value;
    return `{${name}:${type}}`;
  }
}
