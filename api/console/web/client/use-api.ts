import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useMemo } from "react";
import { type Api, openApi } from "./api-client.ts";
import { Interruption } from "./interruption.ts";

const Asking = createContext(new Interruption());
export const InterruptionContext = Asking.Provider;

export function useInterruption(): Interruption {
  return useContext(Asking);
}

/** The client of one membership; 0 for what belongs to the person. When role or session change, everything that was read is dropped. */
export function useApi(membershipId: number): Api {
  const queries = useQueryClient();
  const interruption = useInterruption();
  return useMemo(
    () =>
      openApi({
        membershipId,
        interruption,
        onChanged: () => void dropEverything(queries, membershipId),
      }),
    [membershipId, queries, interruption],
  );
}

/** What was read with other rights may be more than the person may see now (P41). Screens that are open read theirs again. */
async function dropEverything(queries: QueryClient, membershipId: number): Promise<void> {
  await queries.invalidateQueries({ queryKey: ["session"] });
  if (membershipId !== 0) await queries.resetQueries({ queryKey: [membershipId] });
}
