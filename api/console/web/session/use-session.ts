import { queryOptions, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { type Api, read } from "../client/api-client.ts";
import { Problem } from "../client/problem.ts";

export type Session = Awaited<ReturnType<typeof readSession>>;
export type OwnMembership = Session["memberships"][number];

/** Who is signed in in this browser. */
export function useSession(api: Api): UseQueryResult<Session> {
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
