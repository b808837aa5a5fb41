import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from "@tanstack/react-query";
import type { Reader } from "./reports.ts";

/** Parameters of a request by name. */
export type Query = Readonly<Record<string, string>>;

/** One page of a list, as every list of the API answers it. */
export type Page<Row> = { readonly data: readonly Row[]; readonly next_cursor?: string | null };

export type LoadPage<Row> = (query: Query, signal: AbortSignal) => Promise<Page<Row>>;

/** The pages of a list that have been asked for. `name` begins the key of its answers, so that a write can drop them. */
export function useList<Row>(
  { membershipId }: Reader,
  {
    name,
    of = "",
    query,
    load,
    everyMs = false,
  }: {
    readonly name: string;
    /** The record whose list it is. */
    readonly of?: string;
    readonly query: Query;
    readonly load: LoadPage<Row>;
    /** Reads again so often while the page is visible. */
    readonly everyMs?: number | false;
  },
): UseInfiniteQueryResult<InfiniteData<Page<Row>>> {
  return useInfiniteQuery({
    queryKey: [membershipId, name, of, query],
    initialPageParam: "",
    placeholderData: keepPreviousData,
    refetchInterval: everyMs,
    queryFn: async ({ pageParam, signal }) =>
      await load(pageParam === "" ? query : { ...query, cursor: pageParam }, signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Parameters from the address as an operation's. The API judges their values. */
export function fromAddress(query: Query): object {
  return query;
}

const PAGE = 200;
const PAGES_MAX = 50;

/** All pages of a list that is known to be short. @throws if it is longer than 10,000 rows. */
export async function allPages<Row>(
  load: (query: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Row>>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let cursor = "";
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { data, next_cursor: next } = await load({
      limit: PAGE,
      ...(cursor === "" ? {} : { cursor }),
    });
    rows.push(...data);
    if (next === null || next === undefined) return rows;
    cursor = next;
  }
  throw new Error(`There are more than ${PAGE * PAGES_MAX} records.`);
}
