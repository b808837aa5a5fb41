import type { CsvMethods, Described, EachMethods, JsonMethods } from "./operation-methods.ts";
import {
  type Query,
  type Request,
  type TrackerOptions,
  Transport,
  type Value,
} from "./transport.ts";

/** Method and path of each operation, by operationId. */
export type OperationTable = Readonly<Record<string, readonly [method: string, path: string]>>;

/** The API as methods: `createOffer`, `each.listOffers`, `csv.getReport`. */
export type TrackerOf<Ops extends { [Name in keyof Ops]: Described }> = JsonMethods<Ops> & {
  /** Every record of a list. Pages are read as they are needed. */
  readonly each: EachMethods<Ops>;
  /** CSV instead of JSON. */
  readonly csv: CsvMethods<Ops>;
};

type Input = {
  readonly path?: Readonly<Record<string, Value>>;
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
};
type Page = { readonly data: readonly unknown[]; readonly next_cursor: string | null };

/** The methods of all operations in the table. Their types come from the document, their code is the same for all. */
export function buildTracker<Ops extends { [Name in keyof Ops]: Described }>(
  table: OperationTable,
  options: TrackerOptions,
): TrackerOf<Ops> {
  const transport = new Transport(options);
  const methodsOf = (make: (operation: Operation) => unknown): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(table).map(([name, [method, path]]) => [name, make({ method, path })]),
    );
  const tracker: Record<string, unknown> = {
    ...methodsOf(
      (operation) =>
        async (input: Input = {}) =>
          await json(transport, operation, input),
    ),
    each: methodsOf(
      (operation) =>
        (input: Input = {}) =>
          rows(transport, operation, input),
    ),
    csv: methodsOf(
      (operation) =>
        async (input: Input = {}) =>
          await csv(transport, operation, input),
    ),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table and the types are generated from the same document
  return tracker as TrackerOf<Ops>;
}

type Operation = Pick<Request, "method" | "path">;

async function json(transport: Transport, operation: Operation, input: Input): Promise<unknown> {
  return JSON.parse(await transport.send(requestOf(operation, input, "application/json")));
}

async function csv(transport: Transport, operation: Operation, input: Input): Promise<unknown> {
  if (operation.method !== "GET") return await json(transport, operation, input);
  const query = { ...input.query, format: "csv" };
  return await transport.send(requestOf(operation, { ...input, query }, "text/csv"));
}

async function* rows(
  transport: Transport,
  operation: Operation,
  input: Input,
): AsyncGenerator<unknown, void, undefined> {
  let cursor: string | null | undefined;
  do {
    const query = cursor === undefined ? input.query : { ...input.query, cursor };
    const answer = await json(transport, operation, { ...input, query: query ?? {} });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the document describes every list so
    const page = answer as Page;
    yield* page.data;
    cursor = page.next_cursor;
  } while (cursor !== null);
}

function requestOf(
  operation: Operation,
  { path, query, body, signal }: Input,
  accept: Request["accept"],
): Request {
  return { ...operation, pathValues: path, query, body, accept, signal };
}
