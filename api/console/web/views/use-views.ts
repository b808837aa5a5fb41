import type { UseMutationResult, UseQueryResult } from "@tanstack/react-query";
import type { components } from "../../../../.build/console/openapi.ts";
import { read } from "../client/api-client.ts";
import { useRecord } from "../client/records.ts";
import { useMembership } from "../member/membership.ts";
import { useWrite } from "../member/use-write.ts";

export type SavedView = components["schemas"]["SavedView"];
export type ViewChange = {
  readonly name?: string;
  readonly query?: string;
  readonly is_shared?: boolean;
};

const NAME = "saved-views";
const VIEWS_MAX = 200;

/** Own views, and views that others of the account share. */
export function useViews(): UseQueryResult<readonly SavedView[]> {
  const membership = useMembership();
  return useRecord(membership, {
    name: NAME,
    id: "all",
    load: async (signal) => {
      const params = { query: { limit: VIEWS_MAX } };
      return (await read(membership.api.GET("/saved-views", { params, signal }))).data;
    },
  });
}

/** Saves what a screen shows. */
export function useSaveView(): UseMutationResult<
  void,
  Error,
  { readonly name: string; readonly path: string; readonly query: string }
> {
  const { api } = useMembership();
  return useWrite([NAME], async (body) => {
    await read(api.POST("/saved-views", { body }));
  });
}

export function useChangeView(): UseMutationResult<
  void,
  Error,
  { readonly id: number; readonly change: ViewChange }
> {
  const { api } = useMembership();
  return useWrite([NAME], async ({ id, change: body }) => {
    await read(api.PATCH("/saved-views/{id}", { params: { path: { id } }, body }));
  });
}

export function useDeleteView(): UseMutationResult<void, Error, number> {
  const { api } = useMembership();
  return useWrite([NAME], async (id) => {
    await read(api.DELETE("/saved-views/{id}", { params: { path: { id } } }));
  });
}

/** The address of a view, below the membership's. */
export function pathOf({ path, query }: SavedView): string {
  return query === "" ? path : `${path}?${query}`;
}
