import type { ReactElement } from "react";
import { Link } from "wouter";

export type Tab = { readonly name: string; readonly title: string };

/** Parts of one screen. `of=` in the address says which one is shown. */
export function SectionTabs({
  path,
  tabs,
  ...more
}: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly path: string;
}): ReactElement {
  return (
    <LinkedTabs
      {...more}
      tabs={tabs.map(({ name, title }) => ({ name, title, href: `${path}?of=${name}` }))}
    />
  );
}

/** Parts of one screen, each with an address. */
export function LinkedTabs({
  label,
  tabs,
  current,
}: {
  readonly label: string;
  readonly tabs: readonly (Tab & { readonly href: string })[];
  readonly current: string;
}): ReactElement {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ name, title, href }) => (
        <Link
          key={name}
          href={href}
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
