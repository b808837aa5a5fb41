import { type ReactElement, useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { useMembership } from "../member/membership.ts";
import type { Destination } from "../parts/navigation-groups.ts";
import { useShownName } from "../parts/screen-name.ts";

/** Another screen has been opened: names it in the title and to screen readers, and moves the focus to its beginning. */
export function Arrival({
  destinations,
}: {
  readonly destinations: readonly Destination[];
}): ReactElement {
  const { base, workspaceName } = useMembership();
  const [path] = useLocation();
  const named = useShownName();
  const title = named ?? titleOf(path.slice(base.length), destinations);
  const before = useRef(path);
  useEffect(() => {
    document.title = title === "" ? workspaceName : `${title} · ${workspaceName}`;
    if (before.current === path) return;
    before.current = path;
    // A dialog that is open, or a field of the new screen, keeps the focus.
    const screen = document.getElementById("screen");
    if (screen !== null && !screen.contains(document.activeElement)) screen.focus();
    scrollTo(0, 0);
  }, [path, title, workspaceName]);
  return (
    <p className="unseen" role="status">
      {title}
    </p>
  );
}

function titleOf(path: string, destinations: readonly Destination[]): string {
  const below = path === "" ? "/" : path;
  if (below === "/you") return "You";
  return destinations.find((one) => one.path === below)?.title ?? "";
}
