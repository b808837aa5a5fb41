import type { ReactElement, ReactNode } from "react";

/** A link to an address that a stranger chose. Only http and https become links, and the target learns nothing about this page. */
export function SafeLink({ href }: { readonly href: string }): ReactElement {
  return isWeb(href) ? (
    <a href={href} target="_blank" rel="noopener noreferrer">
      <bdi>{href}</bdi>
    </a>
  ) : (
    <bdi>{href}</bdi>
  );
}

/** The value of a fact: nothing where there is no address, so that the fact is left out. */
export function linkOrNothing(href: string | null | undefined): ReactNode {
  return href === null || href === undefined || href === "" ? "" : <SafeLink href={href} />;
}

function isWeb(href: string): boolean {
  if (!URL.canParse(href)) return false;
  const { protocol } = new URL(href);
  return protocol === "https:" || protocol === "http:";
}
