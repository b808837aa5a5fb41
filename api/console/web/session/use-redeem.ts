import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { type Api, read } from "../client/api-client.ts";
import { Problem } from "../client/problem.ts";
import { baseOf } from "./base-of.ts";
import { type Link, membershipOf } from "./join-link.tsx";
import { forgetPlace } from "./last-place.ts";

type Wanted = { readonly password?: string; readonly name?: string; readonly email?: string };

/** Uses a one-time link up. Afterwards the page shows the workspace of the link. */
export function useRedeem(
  api: Api,
  { token, link }: { readonly token: string; readonly link: Link },
): UseMutationResult<unknown, Error, Wanted> {
  const queries = useQueryClient();
  const [, go] = useLocation();
  return useMutation({
    mutationFn: async (wanted: Wanted) =>
      await read(api.POST("/one-time-links/redeem", { body: { token, ...wanted } })),
    onSuccess: async () => {
      const session = await sessionIn(api);
      const membership = session && membershipOf(link, session.memberships);
      const path = membership === undefined ? "/" : `${baseOf(membership)}/`;
      // What another person has read in this tab goes.
      queries.removeQueries({ predicate: ({ queryKey: [name] }) => name !== "session" });
      if (session === undefined) await queries.resetQueries({ queryKey: ["session"] });
      else queries.setQueryData(["session"], session);
      // The link is used up, so it leaves the history as well.
      history.replaceState(null, "", `/console${path}`);
      forgetPlace();
      go(path, { replace: true });
    },
  });
}

/** Undefined if a code is missing before anything can be shown. */
async function sessionIn(api: Api) {
  try {
    return (await read(api.GET("/session"))).data;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
