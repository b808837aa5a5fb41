import type { CursorRange, OpenedCursor, Position } from "../operation/cursor.ts";
import type { OperationContext } from "../operation/operation.ts";
import type { FilterValues } from "./filter-conditions.ts";
import { rangeParams } from "./query-fields.ts";

/** One page of a cursor-paged list, while it is being answered. */
export type OpenPage = {
  /** The position to continue from; undefined on the first page. */
  readonly after: Position | undefined;
  /** The range of the first page, on every later one. */
  readonly range: CursorRange | undefined;
  /** Rows to read: one more than the page shows, to see whether another page follows. */
  readonly rowsMax: number;
  /** The query parameters other than page, range and order. */
  readonly filters: FilterValues;
  /** What `sort` says; undefined for the list's own order. */
  readonly sort: string | undefined;
  /** Builds the answer: at most `limit` rows, each converted by `show`. `positionOf` is called with the last row of a full page. */
  readonly close: <Row, Shown>(rows: readonly Row[], how: PageEnd<Row, Shown>) => PageBody<Shown>;
};

/** What the statement of a filtered list needs from a page. */
export type FilteredPage = Pick<OpenPage, "after" | "rowsMax" | "filters">;

/** What the statement of a list with `sort` needs. */
export type SortedPage = FilteredPage & Pick<OpenPage, "sort">;

export type PageEnd<Row, Shown> = {
  readonly positionOf: (row: Row) => Position;
  readonly show: (row: Row) => Shown;
  readonly range?: CursorRange;
};

export type PageBody<Shown> = { readonly data: Shown[]; readonly next_cursor: string | null };

const PAGING: ReadonlySet<string> = new Set([
  "limit",
  "cursor",
  "sort",
  ...Object.keys(rangeParams),
]);

type PageQuery = Readonly<Record<string, unknown>> & {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly sort?: string | undefined;
};

/** Opens a page of a list. @throws {ApiError} `invalid_cursor`. */
export function openPage(context: OperationContext, list: string, query: PageQuery): OpenPage {
  const binding = { list, principal: context.principal, query };
  const opened: OpenedCursor | undefined = context.cursors.read(binding, query.cursor);
  return {
    after: opened?.position,
    range: opened?.range,
    rowsMax: query.limit + 1,
    sort: query.sort,
    filters: Object.fromEntries(Object.entries(query).filter(([name]) => !PAGING.has(name))),
    close: (rows, { positionOf, show, range }) => {
      const shown = rows.slice(0, query.limit);
      const last = shown.at(-1);
      const next =
        rows.length > query.limit && last !== undefined
          ? context.cursors.write(binding, positionOf(last), range)
          : null;
      return { data: shown.map(show), next_cursor: next };
    },
  };
}
