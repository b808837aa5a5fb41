/**
 * Most destinations carry the id of their click, which would make every one of them different and take a third of a click's
 * room on disk. In the table a control character stands for it, which no URL holds.
 */
const OWN_ID = "char(1)";

/** SQL of the text to store, from a destination and the click's id in hex. */
export function storedDestination(destination: string, clickId: string): string {
  return `replaceAll(${destination}, ${clickId}, ${OWN_ID})`;
}

/** SQL of the destination that was stored, from the column and the click's id in hex. */
export function readDestination(column: string, clickId: string): string {
  return `replaceAll(${column}, ${OWN_ID}, ${clickId})`;
}
