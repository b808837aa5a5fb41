/*
 * The types of the client's methods, computed from the types that openapi-typescript generates for the operations of the document.
 */

/** An operation as openapi-typescript describes it. */
export type Described = {
  readonly parameters: { readonly query?: unknown; readonly path?: unknown };
  readonly requestBody?: unknown;
  readonly responses: object;
};

type Json = "application/json";
type Csv = "text/csv";

type Content<Holder> = Holder extends { content: infer Media } ? Media : never;
type Success<Op extends Described> = Content<
  Op["responses"] extends { 200: infer Answer }
    ? Answer
    : Op["responses"] extends { 201: infer Answer } | { 202: infer Answer }
      ? Answer
      : never
>;
type Body<Op extends Described> = Content<NonNullable<Op["requestBody"]>>;
type Of<Media, Type extends string> = Media extends { [Key in Type]: infer Value } ? Value : never;

/** The media types of a body or an answer; none if there is none. */
type MediaOf<Media> = [Media] extends [never] ? never : keyof Media;

/** A part of the input under its name: absent if the operation has none, optional if all in it is. */
type Part<Name extends string, Value> = [NonNullable<Value>] extends [never]
  ? unknown
  : undefined extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value };

/** Where the media type of the answer decides, `format` is not a parameter of a method. */
type QueryOf<Op extends Described, Value = Op["parameters"]["query"]> =
  Csv extends MediaOf<Success<Op>>
    ? Value extends undefined
      ? undefined
      : Omit<Value, "format">
    : Value;

/** A file is sent as it is. */
type FileOf<Media> = Media extends { "application/octet-stream": unknown }
  ? Blob | Uint8Array<ArrayBuffer> | string
  : never;

export type CallOptions = { readonly signal?: AbortSignal };

type Input<Op extends Described, BodyValue> = Part<"path", Op["parameters"]["path"]> &
  Part<"query", QueryOf<Op>> &
  Part<"body", BodyValue> &
  CallOptions;

type Call<Given, Answer> = CallOptions extends Given
  ? (input?: Given) => Answer
  : (input: Given) => Answer;

type JsonAnswer<Op extends Described> = Of<Success<Op>, Json>;
type Row<Answer> = Answer extends { next_cursor: string | null; data: (infer One)[] } ? One : never;

type OperationsOf<Ops> = { [Name in keyof Ops]: Described };

/** A method for each operation, with its JSON answer. */
export type JsonMethods<Ops extends OperationsOf<Ops>> = {
  readonly [Name in keyof Ops]: Call<
    Input<Ops[Name], Of<Body<Ops[Name]>, Json> | FileOf<Body<Ops[Name]>>>,
    Promise<JsonAnswer<Ops[Name]>>
  >;
};

/** Every record of the cursor-paged lists, page after page. */
export type EachMethods<Ops extends OperationsOf<Ops>> = {
  readonly [Name in keyof Ops as "cursor" extends keyof NonNullable<
    Ops[Name]["parameters"]["query"]
  >
    ? Name
    : never]: Call<
    Input<Ops[Name], Of<Body<Ops[Name]>, Json>>,
    AsyncGenerator<Row<JsonAnswer<Ops[Name]>>, void, undefined>
  >;
};

/** The operations that speak CSV: a read answers text, a write sends text and answers JSON. */
export type CsvMethods<Ops extends OperationsOf<Ops>> = {
  readonly [Name in keyof Ops as Csv extends MediaOf<Success<Ops[Name]>> | MediaOf<Body<Ops[Name]>>
    ? Name
    : never]: Call<
    Input<Ops[Name], Of<Body<Ops[Name]>, Csv>>,
    Promise<Csv extends MediaOf<Success<Ops[Name]>> ? string : JsonAnswer<Ops[Name]>>
  >;
};
