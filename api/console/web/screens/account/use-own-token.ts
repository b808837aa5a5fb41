import type { UseQueryResult } from "@tanstack/react-query";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";

/** The advertiser's token, its replaced ones, and where reports are sent. */
export function useOwnToken(): UseQueryResult<components["schemas"]["OwnPostbackToken"]> {
  const membership = useMembership();
  return useRecord(membership, {
    name: "postback-token",
    id: "own",
    load: async (signal) => (await read(membership.api.GET("/me/postback-token", { signal }))).data,
  });
}
