import { useEffect, useSyncExternalStore } from "react";

let shown: string | undefined;
const listeners = new Set<() => void>();

function show(name: string | undefined): void {
  shown = name;
  for (const listener of listeners) listener();
}

/** Names the page after what it shows, such as a record. Without it the navigation names it. */
export function useScreenName(name: string | undefined): void {
  useEffect(() => {
    show(name);
    return () => show(undefined);
  }, [name]);
}

/** The name that the screen gave itself. */
export function useShownName(): string | undefined {
  return useSyncExternalStore(subscribe, () => shown);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
