import type { UseQueryResult } from "@tanstack/react-query";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";

export type BillingSettings = components["schemas"]["BillingSettings"];

export function useBillingSettings(): UseQueryResult<BillingSettings> {
  const membership = useMembership();
  return useRecord(membership, {
    name: "billing-settings",
    id: "own",
    load: async (signal) => (await read(membership.api.GET("/billing-settings", { signal }))).data,
  });
}
