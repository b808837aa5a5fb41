import { isNoValue } from "../../schemas/names/no-value.ts";
import { decodeComponent } from "./decode.ts";
import { type ParameterSet, plainName } from "./parameters.ts";

/** Which parameters of a link its landing page gets (G244). */
export type PassMode = "none" | "utm" | "all";

const PAIRS_MAX = 256;
const NAME_LENGTH_MAX = 64;
const UTM = "utm_";
/** The ID of the click is ours: an ID that a visitor sends must not look like ours on the page. */
const NEVER_PASSED: ReadonlySet<string> = new Set(["url", "click_id", "transaction_id", "tid"]);

/**
 * The parameters of a link as sent, by their own names, for what offers read beside the columns of the click. They are read when an offer
 * first asks, because most never do.
 */
export class SentParameters {
  readonly #query: string;
  readonly #set: ParameterSet;
  #values: ReadonlyMap<string, string> | undefined;

  constructor(query: string, set: ParameterSet) {
    this.#query = query;
    this.#set = set;
  }

  /** The first value of the name; "" without one. */
  valueOf(name: string): string {
    return this.#all().get(name) ?? "";
  }

  /** What the landing page gets, in the order of the link: `utm_…`, and with `all` also what has no column of its own. */
  passed(mode: PassMode): (readonly [name: string, value: string])[] {
    if (mode === "none") return [];
    return [...this.#all()].filter(
      ([name, value]) =>
        value !== "" &&
        !NEVER_PASSED.has(name) &&
        (name.startsWith(UTM) || (mode === "all" && !this.#set.slots.has(name))),
    );
  }

  #all(): ReadonlyMap<string, string> {
    this.#values ??= valuesOf(this.#query);
    return this.#values;
  }
}

function valuesOf(query: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const pair of query.split("&", PAIRS_MAX)) {
    const equals = pair.indexOf("=");
    const name = plainName(decodeComponent(equals < 0 ? pair : pair.slice(0, equals)));
    if (name === "" || name.length > NAME_LENGTH_MAX || values.has(name)) continue;
    values.set(name, equals < 0 ? "" : givenValue(decodeComponent(pair.slice(equals + 1))));
  }
  return values;
}

/** A name in place of a value is none (G217). */
function givenValue(value: string): string {
  return isNoValue(value) ? "" : value;
}
