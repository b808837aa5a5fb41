import { QueryClient } from "@tanstack/react-query";
import { mayRepeat } from "./api-client.ts";

const REPEATS_MAX = 3;
const FRESH_MS = 10_000;

/**
 * Reads are repeated while the service is away; a refusal is shown at once. Writes are never repeated, because a POST may have been done. What
 * the browser takes for its network is not asked: the service may be on this machine or in a network without the internet.
 */
export function openQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        retry: (failures, error) => failures < REPEATS_MAX && mayRepeat(error),
        refetchOnWindowFocus: true,
        refetchOnReconnect: true,
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}
