import type { UseMutationResult, UseQueryResult } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite, useWriteOnce } from "../../member/use-write.ts";

export type Update = components["schemas"]["ConversionUpdate"];
export type UpdateWithSums = components["schemas"]["ConversionUpdateWithSums"];
export type UpdateRow = components["schemas"]["ConversionUpdateRow"];
export type Columns = Update["columns"];

/** How often a file that goes on is asked for. */
const PROGRESS_MS = 700;
const RECENT = 10;
const PAGE_ROWS = 200;
/** How many rows that change nothing the screen shows, and a CSV has, at most. */
const SHOWN_MAX = 50;
const SAVED_MAX = 10_000;

export type SentUpdate = {
  readonly content: Blob;
  readonly name: string;
  readonly columns: Columns;
  readonly offerIds: readonly string[];
  /** Days, or undefined if missing conversions are kept. */
  readonly missing: { readonly from: string; readonly to: string } | undefined;
};

export function isUnderWay({ status }: Pick<Update, "status">): boolean {
  return status === "checking" || status === "applying" || status === "undoing";
}

/** Sends a file to be checked. Returns its id. */
export function useSendUpdate(): UseMutationResult<number, Error, SentUpdate> {
  const { api } = useMembership();
  return useWriteOnce(["conversion-updates"], async ({ content, name, columns, ...sent }) => {
    const query = {
      name,
      columns: JSON.stringify(columns),
      ...(sent.offerIds.length === 0 ? {} : { offer_ids: sent.offerIds.map(Number) }),
      ...(sent.missing === undefined ? {} : { missing: "reject" as const, ...sent.missing }),
    };
    const { data } = await read(
      api.POST("/conversion-updates", {
        params: { query },
        body: "",
        // The generated type of this body is text; the bytes of the file are sent unchanged.
        bodySerializer: () => content,
        headers: { "content-type": "application/octet-stream" },
      }),
    );
    return data.id;
  });
}

/** A file, read again while it goes on. When it ends, conversions are read again. */
export function useUpdate(id: number): UseQueryResult<UpdateWithSums> {
  const membership = useMembership();
  const { api, membershipId } = membership;
  const queries = useQueryClient();
  const found = useRecord<UpdateWithSums>(membership, {
    name: "conversion-update",
    id,
    load: async (signal) =>
      (await read(api.GET("/conversion-updates/{id}", { params: { path: { id } }, signal }))).data,
    everyMs: (data) => (data === undefined || isUnderWay(data) ? PROGRESS_MS : false),
  });
  const status = found.data?.status;
  useEffect(() => {
    if (status === undefined) return;
    for (const name of ["conversions", "conversion-updates", "conversion-update-rows"])
      void queries.invalidateQueries({ queryKey: [membershipId, name] });
  }, [status, membershipId, queries]);
  return found;
}

export function useRecentUpdates(): UseQueryResult<readonly Update[]> {
  const membership = useMembership();
  const { api } = membership;
  return useRecord<readonly Update[]>(membership, {
    name: "conversion-updates",
    id: "recent",
    load: async (signal) =>
      (await read(api.GET("/conversion-updates", { params: { query: { limit: RECENT } }, signal })))
        .data,
    everyMs: (data) => (data?.some(isUnderWay) === true ? PROGRESS_MS : false),
  });
}

/** Why a row of a file changes nothing: it is wrong, or no conversion has its names. */
export type LeftOut = "refused" | "unknown";

/** The first rows of a file that change nothing. */
export function useLeftOutRows(id: number, outcome: LeftOut): UseQueryResult<readonly UpdateRow[]> {
  const membership = useMembership();
  const { api } = membership;
  const query = { outcome, limit: SHOWN_MAX };
  return useRecord<readonly UpdateRow[]>(membership, {
    name: "conversion-update-rows",
    id: `${id} ${outcome}`,
    load: async (signal) =>
      (
        await read(
          api.GET("/conversion-updates/{id}/rows", { params: { path: { id }, query }, signal }),
        )
      ).data,
  });
}

/** Reads such rows of a file to be saved, page by page. */
export function useAllLeftOutRows(
  id: number,
  outcome: LeftOut,
): UseMutationResult<UpdateRow[], Error, void> {
  const { api } = useMembership();
  return useWrite([], async () => {
    const rows: UpdateRow[] = [];
    let cursor: string | undefined;
    do {
      const query = {
        outcome,
        limit: PAGE_ROWS,
        ...(cursor === undefined ? {} : { cursor }),
      };
      const page = await read(
        api.GET("/conversion-updates/{id}/rows", { params: { path: { id }, query } }),
      );
      rows.push(...page.data);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && rows.length < SAVED_MAX);
    return rows;
  });
}

type Phase = "apply" | "undo" | "stop";

/** Begins to apply or to undo a file, or stops it. */
export function useUpdatePhase(id: number): UseMutationResult<void, Error, Phase> {
  const { api } = useMembership();
  return useWriteOnce(["conversion-update", "conversion-updates"], async (phase: Phase) => {
    const params = { path: { id } };
    if (phase === "apply") await read(api.POST("/conversion-updates/{id}/apply", { params }));
    if (phase === "undo") await read(api.POST("/conversion-updates/{id}/undo", { params }));
    if (phase === "stop") await read(api.POST("/conversion-updates/{id}/stop", { params }));
  });
}
