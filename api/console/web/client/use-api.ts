import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Api, openApi } from "./api-client.ts";

/** The client of one membership; 0 for what belongs to the person. When role or session change, everything that was read is dropped. */
export function useApi(membershipId: number): Api {
  const queries = useQueryClient();
  return useMemo(
    () =>
      openApi({
        membershipId,
        onChanged: () => void queries.invalidateQueries({ queryKey: ["session"] }),
      }),
    [membershipId, queries],
  );
}
