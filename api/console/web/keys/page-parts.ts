/*
 * The parts of a screen that single keys act on. The keys move the real focus, so that Enter, a screen reader and the ring around the
 * focus need nothing of their own.
 */

const ROWS = "main .data-table tbody tr:not(.totals, .spacer)";
const OPENER = ".cell-button, a, input[type=checkbox], button";

/** Each function returns whether the page has the part. */
export function focusFilter(): boolean {
  return focusOn(document.querySelector("main [data-key=filter]"));
}

/** The next or the previous row of the table with the focus, else the first one of the page. */
export function focusRow(by: 1 | -1): boolean {
  const current = document.activeElement?.closest(ROWS) ?? null;
  if (current === null) return focusOn(openerIn(document.querySelector(ROWS)));
  const next = by === 1 ? current.nextElementSibling : current.previousElementSibling;
  return next?.matches(ROWS) === true && focusOn(openerIn(next));
}

/** Ticks the row with the focus, or takes the tick away. */
export function chooseRow(): boolean {
  const box = document.activeElement?.closest(ROWS)?.querySelector("input[type=checkbox]");
  if (!(box instanceof HTMLInputElement)) return false;
  box.click();
  return true;
}

/** Presses the button that decides about the rows that are chosen. Without a choice there is no button. */
export function pressButton(name: "approve" | "reject"): boolean {
  const button = document.querySelector(`main [data-key=${name}]`);
  if (!(button instanceof HTMLButtonElement) || button.disabled) return false;
  button.click();
  return true;
}

function openerIn(row: Element | null): Element | null {
  return row?.querySelector(".cell-button") ?? row?.querySelector(OPENER) ?? null;
}

function focusOn(part: Element | null): boolean {
  if (!(part instanceof HTMLElement)) return false;
  part.focus();
  return true;
}
