import { type ReactElement, useState } from "react";
import { CopyButton } from "./copy-button.tsx";

/** A secret that is hidden until somebody wants to see it. It can be copied without being shown. */
export function SecretText({
  secret,
  name,
}: {
  readonly secret: string;
  /** Names it in the labels of the buttons, such as "token". */
  readonly name: string;
}): ReactElement {
  const [isShown, setShown] = useState(false);
  return (
    <div className="row wrap">
      <code className="grow break">{isShown ? secret : masked(secret)}</code>
      <button type="button" className="button" onClick={() => setShown(!isShown)}>
        {isShown ? `Hide the ${name}` : `Show the ${name}`}
      </button>
      <CopyButton label={`Copy the ${name}`} text={secret} />
    </div>
  );
}

const END = 4;
const DOTS = "•".repeat(12);

/** Its last characters tell two secrets apart. */
export function masked(secret: string): string {
  return DOTS + secret.slice(-END);
}
