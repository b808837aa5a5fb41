import { FileFault } from "./file-fault.ts";

/** Same limit as for a body of the API. */
const VALUE_CHARACTERS_MAX = 1024 ** 2;
const BLANK = /\s/;

/**
 * Splits a JSON array, or values one after the other (JSON lines), into the texts of its values without keeping the whole file in memory.
 * An object ends at its closing bracket; JSON.parse checks the rest.
 * @throws {FileFault} for any other form.
 */
export class JsonTexts {
  #text = "";
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #form: "unknown" | "array" | "ended array" | "lines" = "unknown";
  /** Position in an array: whether a value must come, may come, or must not come before a comma. */
  #next: "value or end" | "value" | "comma or end" = "value or end";

  /** Yields the texts of the values that end in this chunk. */
  *take(chunk: string): Generator<string> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const character = chunk.charAt(at);
      if (this.#depth === 0) {
        this.#between(character);
        start = at;
      } else if (this.#within(character)) {
        this.#keep(chunk.slice(start, at + 1));
        yield this.#text;
        this.#text = "";
      }
    }
    if (this.#depth > 0) this.#keep(chunk.slice(start));
  }

  /** Call after the last chunk. */
  finish(): void {
    if (this.#depth > 0 || this.#form === "array") {
      throw new FileFault("The JSON ends in the middle of a value: the file is incomplete.");
    }
  }

  #between(character: string): void {
    if (BLANK.test(character)) return;
    if (character === "{") this.#open();
    else if (character === "[" && this.#form === "unknown") this.#form = "array";
    else if (character === "," && this.#next === "comma or end" && this.#form === "array")
      this.#next = "value";
    else if (character === "]" && this.#next !== "value" && this.#form === "array")
      this.#form = "ended array";
    else throw unexpected(character);
  }

  #open(): void {
    if (this.#form === "unknown") this.#form = "lines";
    if (this.#form === "ended array") throw unexpected("{");
    if (this.#form === "array" && this.#next === "comma or end") throw unexpected("{");
    this.#next = "comma or end";
    this.#depth = 1;
  }

  #keep(part: string): void {
    this.#text += part;
    if (this.#text.length > VALUE_CHARACTERS_MAX) {
      throw new FileFault(`A record is larger than ${VALUE_CHARACTERS_MAX} characters.`);
    }
  }

  /** True when the value ends with this character. */
  #within(character: string): boolean {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      if (character === "\\") this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
    } else if (character === '"') this.#isInString = true;
    else if (character === "{" || character === "[") this.#depth += 1;
    else if (character === "}" || character === "]") this.#depth -= 1;
    return this.#depth === 0;
  }
}

function unexpected(character: string): FileFault {
  return new FileFault(
    `The JSON is neither an array of objects nor one object after the other: "${character}" is between them.`,
  );
}
