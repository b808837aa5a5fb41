import { DESTINATION_MACROS } from "./macro-names.ts";

const NAMES = DESTINATION_MACROS.join("|");
/** A name in a form that other systems use for macros, and that is sent to the landing page as it is. */
const FOREIGN: readonly RegExp[] = [
  new RegExp(`\\[{1,2}(?:${NAMES})\\]{1,2}`, "i"),
  new RegExp(`<(?:${NAMES})>`, "i"),
  new RegExp(`\\((?:${NAMES})\\)`, "i"),
  new RegExp(`%(?:25)*(?:7B|5B)(?:${NAMES})%(?:25)*(?:7D|5D)`, "i"),
  new RegExp(`%(?:click_id|sub\\d+)%`, "i"),
  new RegExp(`\\$(?:${NAMES})\\b`, "i"),
  new RegExp(`#(?:${NAMES})#`, "i"),
  new RegExp(`__(?:${NAMES})__`, "i"),
];
const DOUBLED = new RegExp(`\\{\\{(?:${NAMES})\\}\\}|\\$\\{(?:${NAMES})\\}`);
const CLICK_ID = "{click_id}";

/** What is probably wrong with the destination of an offer although it may be saved (G245). */
export function destinationWarnings(url: string): string[] {
  if (url === "") return [];
  const warnings: string[] = [];
  const doubled = DOUBLED.exec(url)?.[0];
  if (doubled !== undefined) {
    const name = /\w+/.exec(doubled)?.[0] ?? "";
    warnings.push(
      `${doubled}: only {${name}} is replaced, and the page gets the characters around it too; write {${name}}`,
    );
  }
  for (const pattern of FOREIGN) {
    const found = pattern.exec(url)?.[0];
    if (found === undefined) continue;
    const name = new RegExp(`(?:${NAMES})`, "i").exec(found)?.[0]?.toLowerCase() ?? "";
    warnings.push(`${found} is sent as it is; write {${name}} to have it replaced`);
  }
  if (!url.includes(CLICK_ID) && !warnings.some((warning) => warning.includes(CLICK_ID))) {
    warnings.push(
      `without ${CLICK_ID} the advertiser does not get the ID of the click, and can report conversions only by the landing-page script, a cookie or an ad ID`,
    );
  }
  return warnings;
}
