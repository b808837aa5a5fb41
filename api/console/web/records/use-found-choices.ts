import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Choice, Choices, LoadChoices } from "../client/choices.ts";
import { recordNameKey } from "../client/record-names.ts";
import type { Reader } from "../client/reports.ts";
import type { Found } from "../parts/combobox-list.tsx";
import { matchingChoices, optionsOf, withRecent } from "./found-choices.ts";

/** Typing asks the service only after a pause. */
const PAUSE_MS = 150;

/** What a text finds; undefined while nobody looks for anything. If the first choices are all, they are searched here and nothing is asked. */
export function useFoundChoices(
  reader: Reader,
  load: LoadChoices,
  { sought, recent }: { readonly sought: string | undefined; readonly recent: readonly Choice[] },
): Found & { readonly retry: () => void } {
  const text = sought?.trim() ?? "";
  const { first, answer, data } = useAnswer(reader, load, { text, isOpen: sought !== undefined });
  const choices = data?.choices ?? first?.choices ?? [];
  // What is known already is shown until the answer is there.
  const matching = data === undefined || data === first ? matchingChoices(choices, text) : choices;
  const state = stateOf(answer, data);
  // What is typed may be given also while the list cannot be read.
  const isKept = state !== "failed" || load.takesText === true;
  return {
    options: isKept ? optionsOf(withText(load, matching, text), recent, text) : [],
    state,
    retry: () => void answer.refetch(),
  };
}

type Answer = {
  /** The first choices, if they are known. */
  readonly first: Choices | undefined;
  readonly answer: UseQueryResult<Choices>;
  /** What the text has found. An answer to an earlier text is never taken for it. */
  readonly data: Choices | undefined;
};

function useAnswer(
  reader: Reader,
  load: LoadChoices,
  { text, isOpen }: { readonly text: string; readonly isOpen: boolean },
): Answer {
  const asked = useAfterPause(text);
  const first = useChoices(reader, load, { text: "", isAsked: isOpen });
  const isHere = text === "" || first.data?.isWhole === true;
  const isAsked = !isHere && first.data !== undefined && asked === text;
  const found = useChoices(reader, load, { text: asked, isAsked });
  if (isAsked) return { first: first.data, answer: found, data: found.data };
  return { first: first.data, answer: first, data: isHere ? first.data : undefined };
}

function stateOf({ isError }: UseQueryResult<Choices>, data: Choices | undefined): Found["state"] {
  if (data === undefined) return isError ? "failed" : "searching";
  return data.isWhole ? "whole" : "more";
}

function useChoices(
  reader: Reader,
  load: LoadChoices,
  { text, isAsked }: { readonly text: string; readonly isAsked: boolean },
): UseQueryResult<Choices> {
  return useQuery({
    queryKey: [reader.membershipId, "choices", load.name, text],
    enabled: isAsked,
    queryFn: async ({ signal }) => await load.load(reader, text, signal),
  });
}

/** A text that is no choice, where one may be given. */
function withText(load: LoadChoices, choices: readonly Choice[], text: string): readonly Choice[] {
  if (load.takesText === undefined || text === "") return choices;
  const isKnown = choices.some((parts) => parts.includes(text));
  return isKnown ? choices : [...choices, [text, text, "as typed"]];
}

function useAfterPause(text: string): string {
  const [late, setLate] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLate(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return late;
}

/** What was chosen lately in this tab. It goes with everything else that was read when role or session change. */
export function useRecentChoices(
  reader: Reader,
  { name }: LoadChoices,
): { readonly choices: readonly Choice[]; readonly note: (choice: Choice) => void } {
  const queries = useQueryClient();
  const queryKey = [reader.membershipId, "recent-choices", name];
  const { data = [] } = useQuery<readonly Choice[]>({
    queryKey,
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
    queryFn: () => [],
  });
  const note = (choice: Choice): void => {
    queries.setQueryData<readonly Choice[]>(queryKey, (before = []) => withRecent(before, choice));
    // The name is known, so it is not asked for.
    queries.setQueryData(recordNameKey(reader, name, choice[0]), choice[1]);
  };
  return { choices: data, note };
}
