import { type ReactElement, type ReactNode, useEffect } from "react";
import { askBeforeLeaving } from "./leaving.ts";
import { UnsavedContext } from "./unsaved.ts";
import { useUnsavedForms } from "./unsaved-forms.tsx";

/** A page whose forms are not left without a question: neither by a link, nor by a key, nor by the browser's Back. */
export function UnsavedPage({ children }: { readonly children: ReactNode }): ReactElement {
  const { note, isUnsaved, leave, question } = useUnsavedForms();
  useEffect(() => askBeforeLeaving({ isUnsaved, leave }), [isUnsaved, leave]);
  return (
    <UnsavedContext value={note}>
      {children}
      {question}
    </UnsavedContext>
  );
}
