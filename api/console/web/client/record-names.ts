import { useQuery } from "@tanstack/react-query";
import type { LoadChoices } from "./choices.ts";
import type { Reader } from "./reports.ts";

const FRESH_MS = 60_000;

/** The first choices of a kind of record, which all rows of a list share. */
function useFirstChoices(
  reader: Reader,
  { name, load }: LoadChoices,
): ReturnType<typeof useQuery<Awaited<ReturnType<LoadChoices["load"]>>>> {
  return useQuery({
    queryKey: [reader.membershipId, "choices", name, ""],
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) => await load(reader, "", signal),
  });
}

/** The name of a record; its ID until it is known, or where it may not be read. */
export function useRecordName(reader: Reader, choices: LoadChoices, id: string): string {
  const { data } = useFirstChoices(reader, choices);
  const known = data?.choices.find(([value]) => value === id)?.[1];
  const { nameOf } = choices;
  const one = useQuery({
    queryKey: [reader.membershipId, "record-name", choices.name, id],
    staleTime: FRESH_MS,
    enabled: id !== "" && data !== undefined && known === undefined && nameOf !== undefined,
    queryFn: async ({ signal }) => (await nameOf?.(reader, id, signal)) ?? id,
  });
  return known ?? one.data ?? (id === "" ? "" : `#${id}`);
}
