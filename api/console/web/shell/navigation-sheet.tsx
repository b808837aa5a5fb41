import { Dialog } from "@base-ui/react/dialog";
import { Menu, X } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { NavigationGroup } from "../parts/navigation-groups.ts";
import { Navigation } from "./navigation.tsx";

/** The navigation of small screens: behind a button, over the page. */
export function NavigationSheet({
  groups,
}: {
  readonly groups: readonly NavigationGroup[];
}): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger className="button plain icon only-small" aria-label="Open the navigation">
        <Menu size={18} aria-hidden />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="sheet">
          <header className="row">
            <Dialog.Title className="grow">Screens</Dialog.Title>
            <Dialog.Close className="button plain icon" aria-label="Close">
              <X size={16} aria-hidden />
            </Dialog.Close>
          </header>
          <nav className="side-links" aria-label="Screens">
            <Navigation groups={groups} onGo={() => setOpen(false)} />
          </nav>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
