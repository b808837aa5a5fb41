import { type ReactElement, useCallback, useRef, useState } from "react";
import { DiscardQuestion } from "./discard-question.tsx";
import type { FormState, NoteForm } from "./unsaved.ts";

type Go = () => void;

type UnsavedForms = {
  /** The value of `UnsavedContext` around the forms. */
  readonly note: NoteForm;
  readonly isUnsaved: () => boolean;
  /** Goes at once if nothing is lost, after a question if something typed is not saved, and after the answer to what is being sent. */
  readonly leave: (go: Go) => void;
  readonly question: ReactElement | undefined;
};

/** The forms of one page or drawer, and the question to who leaves it. */
export function useUnsavedForms(): UnsavedForms {
  const [asked, setAsked] = useState<{ readonly go: Go }>();
  const forms = useRef(new Map<string, FormState>());
  const waiting = useRef<Go>(undefined);
  const settle = useCallback(() => {
    const go = waiting.current;
    const states = [...forms.current.values()];
    if (go === undefined || states.includes("sending")) return;
    waiting.current = undefined;
    if (states.includes("typed")) setAsked({ go });
    else go();
  }, []);
  const note = useCallback<NoteForm>(
    (id, state) => {
      if (state === undefined) forms.current.delete(id);
      else forms.current.set(id, state);
      settle();
    },
    [settle],
  );
  const leave = useCallback(
    (go: Go) => {
      waiting.current = go;
      settle();
    },
    [settle],
  );
  const isUnsaved = useCallback(() => forms.current.size > 0, []);
  const question = asked && (
    <DiscardQuestion
      onKeep={() => setAsked(undefined)}
      onDiscard={() => {
        forms.current.clear();
        setAsked(undefined);
        asked.go();
      }}
    />
  );
  return { note, isUnsaved, leave, question };
}
