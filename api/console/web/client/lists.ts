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
    query,
    load,
    everyMs = false,
  }: {
    readonly name: string;
    readonly query: Query;
    readonly load: LoadPage<Row>;
    /** Reads again so often while the page is visible. */
    readonly everyMs?: number | false;
  },
): UseInfiniteQueryResult<InfiniteData<Page<Row>>> {
  return useInfiniteQuery({
    queryKey: [membershipId, name, query],
    initialPageParam: "",
    placeholderData: keepPreviousData,
    refetchInterval: everyMs,
    queryFn: async ({ pageParam, signal }) =>
      await load(pageParam === "" ? query : { ...query, cursor: pageParam }, signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Parameters from the address as those of an operation. The API judges their values. */
export function fromAddress(query: Query): object {
  return query;
}
