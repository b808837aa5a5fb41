import type { ReactElement } from "react";
import { Dialog } from "./dialog.tsx";

/** Asked before something typed is lost. */
export function DiscardQuestion({
  onKeep,
  onDiscard,
}: {
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}): ReactElement {
  return (
    <Dialog title="Discard changes?" onClose={onKeep}>
      <p>What you typed is not saved.</p>
      <div className="row">
        <button type="button" className="button first" onClick={onKeep}>
          Keep editing
        </button>
        <button type="button" className="button danger" onClick={onDiscard}>
          Discard
        </button>
      </div>
    </Dialog>
  );
}
