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
const NAME = new RegExp(NAMES, "i");
const CLICK_ID = "{click_id}";
const WITHOUT_ID = `without ${CLICK_ID} the advertiser does not get the ID of the click, and can report conversions only by the landing-page script, a cookie or an ad ID`;

/** What is probably wrong with the destination of an offer although it may be saved (G245). */
export function destinationWarnings(url: string): string[] {
  if (url === "") return [];
  const warnings = [
    ...doubledWarnings(url),
    ...FOREIGN.flatMap((form) => foreignWarnings(url, form)),
  ];
  const isMissing = !url.includes(CLICK_ID) && !warnings.some((text) => text.includes(CLICK_ID));
  return isMissing ? [...warnings, WITHOUT_ID] : warnings;
}

function doubledWarnings(url: string): string[] {
  const found = DOUBLED.exec(url)?.[0];
  if (found === undefined) return [];
  const macro = `{${/\w+/.exec(found)?.[0] ?? ""}}`;
  return [
    `${found}: only ${macro} is replaced, and the page gets the characters around it too; write ${macro}`,
  ];
}

function foreignWarnings(url: string, form: RegExp): string[] {
  const found = form.exec(url)?.[0];
  if (found === undefined) return [];
  const name = NAME.exec(found)?.[0].toLowerCase() ?? "";
  return [`${found} is sent as it is; write {${name}} to have it replaced`];
}
