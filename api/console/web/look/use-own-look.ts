import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { read } from "../client/api-client.ts";
import { useApi } from "../client/use-api.ts";
import { chooseTheme, type Theme, themeOf } from "../look/theme.ts";
import { useMembership } from "../member/membership.ts";
import { chooseDensity, type Density, densityOf } from "./density.ts";

type Look = {
  readonly theme?: Theme;
  readonly single_key_shortcuts?: boolean;
  readonly table_density?: Density;
  /** Null follows the browser, and for the zone the workspace. */
  readonly locale?: string | null;
  readonly timezone?: string | null;
  readonly first_steps_hidden?: number[];
};

/** How the console shows itself to the person, in all of its browsers. */
export function useOwnLook(): {
  readonly save: (look: Look) => void;
  /** What is being saved: it is shown at once. */
  readonly saving: Look;
  readonly error: Error | null;
} {
  const api = useApi(0);
  const queries = useQueryClient();
  // Not the variables of the mutation, which are there a moment after the click: a box would jump back.
  const [saving, setSaving] = useState<Look>({});
  const write = useMutation({
    mutationFn: async (preferences: Look) => {
      await read(api.PATCH("/person", { body: { preferences } }));
    },
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["session"] });
      setSaving({});
    },
  });
  return {
    error: write.error,
    saving,
    save: (look) => {
      setSaving(look);
      if (look.theme !== undefined) chooseTheme(look.theme);
      if (look.table_density !== undefined) chooseDensity(look.table_density);
      write.mutate(look);
    },
  };
}

/** Shows the theme and the height of rows that the person chose in any browser. */
export function useOwnTheme(): void {
  const { session } = useMembership();
  const preferred = themeOf(session.person.preferences.theme);
  const density = densityOf(session.person.preferences.table_density);
  useEffect(() => {
    if (preferred !== undefined) chooseTheme(preferred);
  }, [preferred]);
  useEffect(() => {
    if (density !== undefined) chooseDensity(density);
  }, [density]);
}
