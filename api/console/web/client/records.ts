import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { Reader } from "./reports.ts";

/** One record, or a list that is short enough to be whole. `name` and `id` are the key of its answer. */
export function useRecord<Result>(
  { membershipId }: Reader,
  {
    name,
    id,
    load,
    everyMs = false,
  }: {
    readonly name: string;
    readonly id: string | number;
    readonly load: (signal: AbortSignal) => Promise<Result>;
    /** Reads again so often while the page is visible; a function decides by what was read last. */
    readonly everyMs?: number | false | ((data: Result | undefined) => number | false);
  },
): UseQueryResult<Result> {
  return useQuery<Result>({
    queryKey: [membershipId, name, String(id)],
    refetchInterval: typeof everyMs === "function" ? ({ state }) => everyMs(state.data) : everyMs,
    queryFn: async ({ signal }) => await load(signal),
  });
}
