import { type ReactElement, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { later } from "../later.tsx";
import { useMembership } from "../member/membership.ts";
import type { Destination } from "../parts/navigation-groups.ts";
import { type Press, SCREEN_KEYS, type Wish, wishOf } from "./key-presses.ts";
import { chooseRow, focusFilter, focusRow, pressButton } from "./page-parts.ts";

const KeyHelp = later(async () => (await import("./key-help.tsx")).KeyHelp);

/** Keys without a modifier. They would disturb people who speak to their computer, so each person can switch them off (WCAG 2.1.4). */
export function SingleKeys({
  destinations,
}: {
  readonly destinations: readonly Destination[];
}): ReactElement | null {
  const { base, session } = useMembership();
  const [, go] = useLocation();
  const [isHelp, setHelp] = useState(false);
  const begun = useRef<Press | undefined>(undefined);
  const isOff = session.person.preferences.single_key_shortcuts === false;
  useEffect(() => {
    if (isOff) return undefined;
    const press = (event: KeyboardEvent): void => {
      if (!isFree(event)) return;
      const now = { key: event.key, atMs: event.timeStamp };
      const wish = wishOf(now, begun.current);
      begun.current = wish?.kind === "begin" ? now : undefined;
      if (wish === undefined || wish.kind === "begin") return;
      if (wish.kind === "help") setHelp(true);
      else if (wish.kind === "screen") {
        const path = destinations.find((one) => SCREEN_KEYS.get(one.path) === wish.key)?.path;
        if (path !== undefined) go(base + path);
      } else if (!actOnPage(wish)) return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [isOff, destinations, base, go]);
  if (!isHelp) return null;
  return <KeyHelp destinations={destinations} onClose={() => setHelp(false)} />;
}

/** Whether it did something. */
function actOnPage({ kind }: Exclude<Wish, { readonly kind: "screen" }>): boolean {
  switch (kind) {
    case "filter":
      return focusFilter();
    case "next":
      return focusRow(1);
    case "previous":
      return focusRow(-1);
    case "choose":
      return chooseRow();
    case "approve":
    case "reject":
      return pressButton(kind);
    case "begin":
    case "help":
      return false;
  }
}

/** Nothing is being typed, no dialog is open, and the key is alone. */
function isFree({ target, ctrlKey, metaKey, altKey, repeat, key }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || (repeat && key !== "j" && key !== "k")) return false;
  if (!(target instanceof Element)) return true;
  const isTyping =
    target.matches("input:not([type=checkbox]), select, textarea, [contenteditable]") ||
    target.closest("[role=dialog], [role=menu], [role=listbox]") !== null;
  return !isTyping;
}
