import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactElement, ReactNode } from "react";

/** A question over the page, which stays as it is behind it. */
export function Dialog({
  title,
  onClose,
  hidesPage = false,
  children,
}: {
  readonly title: string;
  /** Undefined if it cannot be closed before it is answered. */
  readonly onClose?: (() => void) | undefined;
  /** Nobody can read the page behind it. */
  readonly hidesPage?: boolean;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <Base.Root open disablePointerDismissal onOpenChange={(isOpen) => !isOpen && onClose?.()}>
      <Base.Portal>
        <Base.Backdrop className={hidesPage ? "backdrop over hides" : "backdrop over"} />
        <Base.Popup className="dialog stack">
          <Base.Title>{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
