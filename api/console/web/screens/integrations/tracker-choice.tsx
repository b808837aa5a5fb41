import { type ReactElement, useState } from "react";
import { ChoiceField } from "../../parts/choice-field.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { TRACKER_TEMPLATES } from "./tracker-templates.ts";

/** The address that the tracker of a partner takes, to copy into the form below. */
export function TrackerChoice(): ReactElement {
  const [chosen, setChosen] = useState("");
  const template = TRACKER_TEMPLATES.find(({ name }) => name === chosen);
  return (
    <div className="stack tight">
      <ChoiceField
        label="Your tracker"
        value={chosen}
        choices={[
          ["", "Another one"],
          ...TRACKER_TEMPLATES.map(({ name }) => [name, name] as const),
        ]}
        onChange={setChosen}
      />
      {template !== undefined && (
        <>
          <div className="row wrap">
            <code className="grow break">{template.address}</code>
            <CopyButton label="Copy the address" text={template.address} />
          </div>
          <p className="muted">
            Put your own domain in the place of YOUR_DOMAIN, and send {template.clickMacro} of your
            tracker in Sub 1 of the link.
          </p>
        </>
      )}
    </div>
  );
}
