import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactElement } from "react";
import { Link } from "wouter";
import { useMembership } from "../member/membership.ts";
import type { Destination } from "../parts/navigation-groups.ts";
import { SCREEN_KEYS } from "./key-presses.ts";

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["Ctrl", "K"], "Search and commands"],
  [["/"], "Filter this list"],
  [["j"], "Next row"],
  [["k"], "Previous row"],
  [["Enter"], "Open the row"],
  [["?"], "This help"],
];
const DECIDING: typeof KEYS = [
  [["x"], "Select the row"],
  [["a"], "Approve what is selected"],
  [["r"], "Reject what is chosen"],
];

/** All keys of the console. */
export function KeyHelp({
  destinations,
  onClose,
}: {
  readonly destinations: readonly Destination[];
  readonly onClose: () => void;
}): ReactElement {
  const { base, role } = useMembership();
  const screens = destinations.flatMap(({ path, title }) => {
    const key = SCREEN_KEYS.get(path);
    return key === undefined ? [] : [[["g", key], title] as const];
  });
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette key-help">
          <header className="row">
            <Dialog.Title className="grow">Keyboard</Dialog.Title>
            <Dialog.Close className="button plain icon" aria-label="Close">
              <X size={16} aria-hidden />
            </Dialog.Close>
          </header>
          <div className="columns tight">
            <KeyList title="On a screen" keys={role === "admin" ? [...KEYS, ...DECIDING] : KEYS} />
            <KeyList title="Go to" keys={screens} />
          </div>
          <p className="muted">
            Single keys can be switched off in{" "}
            <Link href={`${base}/you`} onClick={onClose}>
              your settings
            </Link>
            .
          </p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function KeyList({
  title,
  keys,
}: {
  readonly title: string;
  readonly keys: readonly (readonly [keys: readonly string[], does: string])[];
}): ReactElement {
  return (
    <section className="stack tight">
      <h3>{title}</h3>
      <dl className="keys">
        {keys.map(([pressed, does]) => (
          <div key={does}>
            <dt>
              {pressed.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
