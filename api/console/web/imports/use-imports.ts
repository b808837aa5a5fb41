import type { UseMutationResult, UseQueryResult } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { components } from "../../../../.build/console/openapi.ts";
import { read } from "../client/api-client.ts";
import { useRecord } from "../client/records.ts";
import { useMembership } from "../member/membership.ts";
import { useWrite } from "../member/use-write.ts";
import type { FileForm } from "./guess-file.ts";
import { type Import, type ImportKind, isOpen } from "./import-words.ts";

/** How often an import that goes on is asked for. */
const PROGRESS_MS = 1_000;
const RECENT = 10;

export type ImportWithFaults = components["schemas"]["ImportWithFaults"];

export type SentFile = FileForm & {
  readonly content: Blob;
  readonly name: string;
  /** Some of `update` and `skip_faulty`. */
  readonly options: readonly string[];
  readonly isDryRun: boolean;
};

/** Sends a file. Returns the id of its import. */
export function useSend(kind: ImportKind): UseMutationResult<number, Error, SentFile> {
  const { api } = useMembership();
  return useWrite(["imports"], async (file: SentFile) => {
    const flag = (isOn: boolean): "0" | "1" => (isOn ? "1" : "0");
    const query = {
      kind,
      name: file.name,
      format: file.format,
      delimiter: file.delimiter,
      dry_run: flag(file.isDryRun),
      update: flag(file.options.includes("update")),
      skip_faulty: flag(file.options.includes("skip_faulty")),
    };
    const { data } = await read(
      api.POST("/imports", {
        params: { query },
        body: "",
        // The type of a body that is a file is text; a file is sent as it is.
        bodySerializer: () => file.content,
        headers: { "content-type": "application/octet-stream" },
      }),
    );
    return data.id;
  });
}

/** An import, read again while it goes on. When it ends, the list of its records is read again. */
export function useImport(id: number, kind: ImportKind): UseQueryResult<ImportWithFaults> {
  const membership = useMembership();
  const { api, membershipId } = membership;
  const queries = useQueryClient();
  const found = useRecord<ImportWithFaults>(membership, {
    name: "import",
    id,
    load: async (signal) =>
      (await read(api.GET("/imports/{id}", { params: { path: { id } }, signal }))).data,
    everyMs: (data) => (data === undefined || isOpen(data) ? PROGRESS_MS : false),
  });
  const endedAt = found.data?.ended_at;
  useEffect(() => {
    if (endedAt === undefined || endedAt === null) return;
    for (const name of [kind, "imports"])
      void queries.invalidateQueries({ queryKey: [membershipId, name] });
  }, [endedAt, kind, membershipId, queries]);
  return found;
}

/** The newest imports of a kind, read again while one of them goes on. */
export function useRecentImports(kind: ImportKind): UseQueryResult<readonly Import[]> {
  const membership = useMembership();
  const { api } = membership;
  return useRecord<readonly Import[]>(membership, {
    name: "imports",
    id: kind,
    load: async (signal) =>
      (await read(api.GET("/imports", { params: { query: { kind, limit: RECENT } }, signal })))
        .data,
    everyMs: (data) => (data?.some(isOpen) === true ? PROGRESS_MS : false),
  });
}

export function useStop(id: number): UseMutationResult<void, Error, void> {
  const { api } = useMembership();
  return useWrite(["imports", "import"], async () => {
    await read(api.POST("/imports/{id}/stop", { params: { path: { id } } }));
  });
}
