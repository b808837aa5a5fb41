import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactElement, type ReactNode, useCallback, useRef, useState } from "react";
import { DecisionNotices } from "./decision-notices.tsx";
import { DiscardQuestion } from "./discard-question.tsx";
import { type NoteUnsaved, UnsavedContext } from "./unsaved.ts";

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
  const [isAsking, setAsking] = useState(false);
  const unsaved = useRef(new Set<string>());
  const note = useCallback<NoteUnsaved>((id, isUnsaved) => {
    if (isUnsaved) unsaved.current.add(id);
    else unsaved.current.delete(id);
  }, []);
  const close = (): void => {
    if (unsaved.current.size > 0) setAsking(true);
    else onClose();
  };
  return (
    <Base.Root open onOpenChange={(isOpen) => !isOpen && close()}>
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
          {isAsking && <DiscardQuestion onKeep={() => setAsking(false)} onDiscard={onClose} />}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
