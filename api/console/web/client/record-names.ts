import { useQuery } from "@tanstack/react-query";
import type { LoadChoices } from "./choices.ts";
import type { Reader } from "./reports.ts";

const FRESH_MS = 60_000;

/** The name of a record: its ID until the name is known, and for those who may not read it. */
export function useRecordName(
  reader: Reader,
  { name, nameOf, wordsOf }: LoadChoices,
  { value, mayRead }: { readonly value: string; readonly mayRead: boolean },
): string {
  const one = useQuery({
    queryKey: recordNameKey(reader, name, value),
    staleTime: FRESH_MS,
    enabled: value !== "" && mayRead && nameOf !== undefined,
    queryFn: async ({ signal }) => (await nameOf?.(reader, value, signal)) ?? value,
  });
  if (wordsOf !== undefined && value !== "") return wordsOf(value);
  if (nameOf === undefined || value === "") return value;
  return one.data ?? (/^\d+$/.test(value) ? `#${value}` : value);
}

/** Where the name of a record is cached. */
export function recordNameKey(reader: Reader, name: string, value: string): readonly unknown[] {
  return [reader.membershipId, "record-name", name, value];
}
