import { createContext, useContext, useEffect, useId } from "react";

/** Told by forms, by an ID of each, whether something typed there is not saved. */
export type NoteUnsaved = (id: string, isUnsaved: boolean) => void;

export const UnsavedContext = createContext<NoteUnsaved>(() => undefined);

/** Before the page or the drawer around this form closes, the person is asked. */
export function useUnsaved(isUnsaved: boolean): void {
  const note = useContext(UnsavedContext);
  const id = useId();
  useEffect(() => {
    note(id, isUnsaved);
    if (!isUnsaved) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => {
      removeEventListener("beforeunload", ask);
      note(id, false);
    };
  }, [note, id, isUnsaved]);
}
