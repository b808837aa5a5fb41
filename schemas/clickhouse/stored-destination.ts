/**
 * Most destinations contain the id of their click, so they would all differ and take a third of a click's disk space. The table has a
 * control character in its place, which no URL contains.
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
