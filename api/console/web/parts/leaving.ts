import type { AroundNavHandler } from "wouter";

type Go = () => void;

/** A page that may have something which is not saved. */
type Guarded = {
  readonly isUnsaved: () => boolean;
  /** Asks the person, and goes if the answer is yes; waits first for what is being sent. */
  readonly leave: (go: Go) => void;
};

let guarded: Guarded | undefined;

/** From now on whoever leaves this page is asked first, if something is not saved. Returns a function that ends it. */
export function askBeforeLeaving(page: Guarded): () => void {
  guarded = page;
  return () => {
    if (guarded === page) guarded = undefined;
  };
}

/**
 * Opens an address, after a question if the page has something that is not saved. Another search of the same page loses nothing, and an
 * address that replaces this one follows from what was saved or deleted here.
 */
export const goOrAsk: AroundNavHandler = (navigate, to, options) => {
  const go = (): void => navigate(to, options);
  const isSamePage = new URL(to, location.href).pathname === location.pathname;
  if (isSamePage || options?.replace === true || guarded?.isUnsaved() !== true) go();
  else guarded.leave(go);
};

/**
 * A browser that goes back cannot be stopped: the address of the page is put back, before any screen hears of it, and then it is asked.
 * It is called once, before the screens listen, because listeners of a window are called in the order in which they came.
 */
export function watchBack(): void {
  let { href } = location;
  const stay = (): void => {
    ({ href } = location);
  };
  addEventListener("popstate", (event) => {
    const isSamePage = new URL(href).pathname === location.pathname;
    if (isSamePage || guarded?.isUnsaved() !== true) return stay();
    event.stopImmediatePropagation();
    history.pushState(null, "", href);
    guarded.leave(() => history.back());
  });
  for (const move of ["pushState", "replaceState"]) addEventListener(move, stay);
}
