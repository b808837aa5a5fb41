import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { DecisionNotices } from "./decision-notices.tsx";
import { UnsavedContext } from "./unsaved.ts";
import { useUnsavedForms } from "./unsaved-forms.tsx";

/** One record beside its list. Escape closes it, after a question if something typed in it is not saved. */
export function Drawer({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactElement {
  const { note, leave, question } = useUnsavedForms();
  return (
    <Base.Root open onOpenChange={(isOpen) => !isOpen && leave(onClose)}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup className="drawer">
          <header className="row">
            <Base.Title className="grow">{title}</Base.Title>
            <Base.Close className="button plain" aria-label="Close">
              <X size={16} aria-hidden />
            </Base.Close>
          </header>
          <UnsavedContext value={note}>
            <div className="stack">{children}</div>
          </UnsavedContext>
          <DecisionNotices />
          {question}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
