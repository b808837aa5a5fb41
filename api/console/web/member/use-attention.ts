import type { UseQueryResult } from "@tanstack/react-query";
import type { components } from "../../../../.build/console/openapi.ts";
import { read } from "../client/api-client.ts";
import { useRecord } from "../client/records.ts";
import { useMembership } from "./membership.ts";

export type AttentionItem = components["schemas"]["AttentionItem"];

/** What waits is read again so often. */
export const ATTENTION_MS = 30_000;

/** What waits for the staff. The navigation, the inbox and the dashboard share one answer, which is read again while the page is visible. */
export function useAttention(): UseQueryResult<readonly AttentionItem[]> {
  const membership = useMembership();
  return useRecord<readonly AttentionItem[]>(membership, {
    name: "attention",
    id: "all",
    everyMs: ATTENTION_MS,
    load: async (signal) => (await read(membership.api.GET("/attention", { signal }))).data,
  });
}
