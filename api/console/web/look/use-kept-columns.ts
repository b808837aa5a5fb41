import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../client/api-client.ts";
import { useApi } from "../client/use-api.ts";
import { useMembership } from "../member/membership.ts";
import type { Session } from "../member/use-session.ts";
import { withColumns } from "./kept-columns.ts";

/** The columns that the person has chosen for a list. They hold in every browser of the person. */
export function useKeptColumns(list: string): {
  readonly kept: readonly string[] | undefined;
  /** Undefined forgets the choice. */
  readonly keep: (columns: readonly string[] | undefined) => void;
  readonly error: Error | null;
} {
  const api = useApi(0);
  const queries = useQueryClient();
  const { session } = useMembership();
  // A choice that could not be saved lasts as long as the screen.
  const [chosen, setChosen] = useState<{
    readonly list: string;
    readonly columns: readonly string[] | undefined;
  }>();
  const write = useMutation({
    // Never two at once: each adds its choice to the lists that the write before it saved.
    scope: { id: "list-columns" },
    mutationFn: async (columns: readonly string[] | undefined) => {
      const person = queries.getQueryData<Session>(["session"])?.person ?? session.person;
      const lists = withColumns(person.preferences.list_columns ?? [], list, columns);
      const saved = lists.map((one) => ({ list: one.list, columns: [...one.columns] }));
      await read(api.PATCH("/person", { body: { preferences: { list_columns: saved } } }));
      await queries.invalidateQueries({ queryKey: ["session"] });
    },
  });
  const saved = session.person.preferences.list_columns?.find((one) => one.list === list)?.columns;
  return {
    kept: chosen?.list === list ? chosen.columns : saved,
    error: write.error,
    keep: (columns) => {
      setChosen({ list, columns });
      write.mutate(columns);
    },
  };
}
