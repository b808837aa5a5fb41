import type { AroundNavHandler } from "wouter";

type Go = () => void;
type Ask = (go: Go) => void;

let asked: Ask | undefined;

/** From now on whoever opens another page is asked first. Returns a function that ends it. */
export function askBeforeLeaving(ask: Ask): () => void {
  asked = ask;
  return () => {
    if (asked === ask) asked = undefined;
  };
}

/**
 * Opens an address, after a question if the page has something that is not saved. Another search of the same page loses nothing, and an
 * address that replaces this one follows from what was saved or deleted here.
 */
export const goOrAsk: AroundNavHandler = (navigate, to, options) => {
  const go = (): void => navigate(to, options);
  const isSamePage = new URL(to, location.href).pathname === location.pathname;
  if (asked === undefined || isSamePage || options?.replace === true) go();
  else asked(go);
};
