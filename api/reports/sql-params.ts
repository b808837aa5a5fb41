/** Parameters of one statement by name. */
export class SqlParams {
  readonly values: Record<string, unknown> = {};
  readonly #names = new Map<string, string>();

  /** Returns the placeholder of a value. Equal values of a type share one parameter. */
  of(type: string, value: unknown): string {
    const key = `${type} ${JSON.stringify(value)}`;
    const prefix = type.replaceAll(/[()]/g, "").toLowerCase();
    const name = this.#names.get(key) ?? `${prefix}_${this.#names.size}`;
    this.#names.set(key, name);
    this.values[name] = value;
    return `{${name}:${type}}`;
  }
}
