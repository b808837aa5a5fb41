import { type QueryState, useQueryClient } from "@tanstack/react-query";
import { CloudOff } from "lucide-react";
import { type ReactElement, useEffect, useSyncExternalStore } from "react";
import { isAway } from "../client/problem.ts";

const AGAIN_MS = 5_000;

/** Says which part of the service is away, and reads again until it is back. */
export function Banners(): ReactElement | null {
  const queries = useQueryClient();
  const cache = queries.getQueryCache();
  const away = useSyncExternalStore(
    (onChange) => cache.subscribe(onChange),
    () => awayIn(cache.getAll().map((query) => (query.isActive() ? faultOf(query.state) : null))),
  );
  useEffect(() => {
    if (away === "") return undefined;
    const timer = setInterval(() => {
      void queries.refetchQueries({
        type: "active",
        predicate: ({ state }) => isAway(state.error),
      });
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [away, queries]);
  if (away === "") return null;
  return (
    <div className="banner" role="status">
      <CloudOff size={16} aria-hidden />
      <span className="grow">{away} Everything else works; we're retrying.</span>
    </div>
  );
}

/** One text, so that the same answer is no change. */
function awayIn(errors: readonly unknown[]): string {
  const messages = errors.filter(isAway).map(({ message }) => sentence(message));
  return [...new Set(messages)].join(" ");
}

/** A read that failed twice is told at once, while its further repeats still wait. One failure alone is mostly over before a person reads of it. */
function faultOf({ error, fetchFailureCount, fetchFailureReason }: QueryState): unknown {
  return error ?? (fetchFailureCount > 1 ? fetchFailureReason : null);
}

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
