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
  useEffect(
    () =>
      askBeforeLeaving({
        isUnsaved: () => unsaved.current.size > 0,
        ask: (go) => setLeaving({ go }),
      }),
    [],
  );
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
