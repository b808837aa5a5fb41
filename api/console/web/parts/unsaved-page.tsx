import { type ReactElement, type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { DiscardQuestion } from "./discard-question.tsx";
import { askBeforeLeaving } from "./leaving.ts";
import { type NoteUnsaved, UnsavedContext } from "./unsaved.ts";

/** A page whose forms are not left without a question: neither by a link, nor by a key, nor by the browser's Back. */
export function UnsavedPage({ children }: { readonly children: ReactNode }): ReactElement {
  const unsaved = useRef(new Set<string>());
  const [leaving, setLeaving] = useState<{ readonly go: () => void }>();
  const note = useCallback<NoteUnsaved>((id, isUnsaved) => {
    if (isUnsaved) unsaved.current.add(id);
    else unsaved.current.delete(id);
  }, []);
  useEffect(() => {
    const isUnsaved = (): boolean => unsaved.current.size > 0;
    const ask = (go: () => void): void => (isUnsaved() ? setLeaving({ go }) : go());
    const endAsking = askBeforeLeaving(ask);
    const endWatching = watchBack(isUnsaved, ask);
    return () => {
      endAsking();
      endWatching();
    };
  }, []);
  return (
    <UnsavedContext value={note}>
      {children}
      {leaving !== undefined && (
        <DiscardQuestion
          onKeep={() => setLeaving(undefined)}
          onDiscard={() => {
            unsaved.current.clear();
            setLeaving(undefined);
            leaving.go();
          }}
        />
      )}
    </UnsavedContext>
  );
}

/** A browser that goes back cannot be stopped: the address of this page is put back, before any screen hears of it, and then it is asked. */
function watchBack(isUnsaved: () => boolean, ask: (go: () => void) => void): () => void {
  let { href } = location;
  const stay = (): void => {
    ({ href } = location);
  };
  const back = (event: PopStateEvent): void => {
    if (!isUnsaved() || new URL(href).pathname === location.pathname) return stay();
    event.stopImmediatePropagation();
    history.pushState(null, "", href);
    ask(() => history.back());
  };
  const moves = ["pushState", "replaceState"];
  addEventListener("popstate", back, { capture: true });
  for (const move of moves) addEventListener(move, stay);
  return () => {
    removeEventListener("popstate", back, { capture: true });
    for (const move of moves) removeEventListener(move, stay);
  };
}
