import { queryOptions, type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type Api, read } from "../client/api-client.ts";
import { Problem } from "../client/problem.ts";

export type Session = Awaited<ReturnType<typeof readSession>>;
export type OwnMembership = Session["memberships"][number];

/** Who is signed in in this browser. */
export function useSession(api: Api): UseQueryResult<Session> {
  const queries = useQueryClient();
  useEffect(() => {
    // Back shows the page as it was left, which may be before a sign-out.
    const askAgain = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) void queries.resetQueries();
    };
    addEventListener("pageshow", askAgain);
    return () => removeEventListener("pageshow", askAgain);
  }, [queries]);
  return useQuery(
    queryOptions({
      queryKey: ["session"],
      queryFn: async ({ signal }) => await readSession(api, signal),
      // Somebody may have signed out in another tab.
      refetchOnWindowFocus: "always",
    }),
  );
}

async function readSession(api: Api, signal: AbortSignal) {
  const { data } = await read(api.GET("/session", { signal }));
  return data;
}

/** What the person has to do before anything can be shown. Undefined for another failure. */
export function neededFor(error: unknown): "sign-in" | "second-factor" | undefined {
  if (!(error instanceof Problem)) return undefined;
  if (error.code === "sign_in_required" || error.code === "unauthorized") return "sign-in";
  return error.code === "second_factor_required" ? "second-factor" : undefined;
}
