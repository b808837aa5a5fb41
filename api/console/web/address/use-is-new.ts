import { useAddress } from "./use-address.ts";

/** Whether the form for a new record is open. It is in the address, so that the palette can open it. */
export function useIsNew(): readonly [boolean, (isNew: boolean) => void] {
  const [search, change] = useAddress();
  return [search.get("new") === "1", (isNew) => change({ new: isNew ? "1" : undefined })];
}
