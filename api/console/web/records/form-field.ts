import type { Choice, LoadChoices } from "../client/choices.ts";

/** A field of a record, with the name that the API gives it. Without a kind it is one line of text, or one of its choices. */
export type FormField = {
  readonly name: string;
  readonly label: string;
  /**
   * `address`: of a web page, shown as a link. `lines`: a list, one entry in each line. `many`: a list of some of the choices. `flag`: yes or no. `day`: as `YYYY-MM-DD`. `time`: an instant, typed in UTC. `record` and `records`: by ID, chosen
   * with `load`, which a text or a `list` may have as well. `group`: an object with the `fields`. `rows`: a list of such objects. `lists` and `texts`: an object whose names are
   * some of the choices.
   */
  readonly kind?:
    | "address"
    | "area"
    | "number"
    | "list"
    | "lines"
    | "list-numbers"
    | "many"
    | "many-numbers"
    | "new-password"
    | "flag"
    | "day"
    | "time"
    | "record"
    | "records"
    | "group"
    | "rows"
    | "lists"
    | "texts"
    | undefined;
  readonly choices?: readonly Choice[] | undefined;
  readonly load?: LoadChoices | undefined;
  readonly fields?: readonly FormField[] | undefined;
  /** Shown only while another field has a value, such as the partner of a person who is one. */
  readonly onlyFor?: { readonly name: string; readonly value: string } | undefined;
  readonly hint?: string | undefined;
  /** Names that may be inserted into a text, each in braces. */
  readonly macros?: readonly string[] | undefined;
  readonly required?: boolean | undefined;
  /** An empty field is sent as null, because the API has no empty text for it. */
  readonly isNullable?: boolean | undefined;
  /** A group that leaves out what is empty: no condition differs from an empty condition. */
  readonly isSparse?: boolean | undefined;
  /** A group that is closed until it has content. */
  readonly isFolded?: boolean | undefined;
  /** What a row is called, and what a new row starts with. */
  readonly row?:
    | {
        readonly noun: string;
        readonly initial: object;
        /** A row leaves out what is empty. */
        readonly isSparse?: boolean | undefined;
      }
    | undefined;
};

/** What the API takes: any JSON. */
export type FormValue =
  | string
  | number
  | boolean
  | null
  | readonly FormValue[]
  | { readonly [name: string]: FormValue };

/** Fields of a record as they are sent. */
export type RecordBody = Readonly<Record<string, FormValue>>;

/** A method, so that what saves only texts, numbers and lists of texts may take a {@link FormBody}. */
type Saving = { save(body: RecordBody): Promise<unknown> };
export type Save = Saving["save"];

/** Fields of a form that has only texts, numbers and lists of texts. */
export type FormBody = Readonly<Record<string, string | number | readonly string[]>>;
