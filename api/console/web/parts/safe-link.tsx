import type { ReactElement } from "react";

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

function isWeb(href: string): boolean {
  if (!URL.canParse(href)) return false;
  const { protocol } = new URL(href);
  return protocol === "https:" || protocol === "http:";
}
