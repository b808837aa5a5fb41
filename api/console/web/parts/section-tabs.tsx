import type { ReactElement } from "react";
import { Link } from "wouter";

export type Tab = { readonly name: string; readonly title: string };

/** Parts of one screen. `of=` in the address says which one is shown. */
export function SectionTabs({
  label,
  tabs,
  current,
  path,
}: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly path: string;
}): ReactElement {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ name, title }) => (
        <Link
          key={name}
          href={`${path}?of=${name}`}
          aria-current={name === current ? "page" : undefined}
          ref={name === current ? showWhole : undefined}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}

/** On a phone only the first few tabs are in view. */
function showWhole(tab: HTMLAnchorElement | null): void {
  tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
}
