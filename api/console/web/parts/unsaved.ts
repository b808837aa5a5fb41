import { createContext, useContext, useEffect, useId } from "react";

/** Whether a form has something that is not saved, or is sending it. Undefined if leaving the form loses nothing. */
export type FormState = "typed" | "sending" | undefined;

export type NoteForm = (id: string, state: FormState) => void;

/** Called by forms, by an ID of each. */
export const UnsavedContext = createContext<NoteForm>(() => undefined);

/**
 * Before the page or the drawer around this form closes, the person is asked. While the form is sending, closing waits for the answer instead:
 * what was just saved is not asked about.
 */
export function useUnsaved(isUnsaved: boolean, isSending: boolean): void {
  const note = useContext(UnsavedContext);
  const id = useId();
  useEffect(() => {
    if (isUnsaved) note(id, isSending ? "sending" : "typed");
    else note(id, undefined);
  }, [note, id, isUnsaved, isSending]);
  useEffect(() => () => note(id, undefined), [note, id]);
  useEffect(() => {
    if (!isUnsaved) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isUnsaved]);
}
