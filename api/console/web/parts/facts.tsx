import type { ReactElement, ReactNode } from "react";
import { StrangerText } from "./stranger-text.tsx";

export type Fact = readonly [name: string, value: ReactNode];

/** Names and values of one record. Texts may be of strangers. Values that are empty are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }): ReactElement {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== "" && value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === "string" ? <StrangerText text={value} /> : value}</dd>
          </div>
        ))}
    </dl>
  );
}
