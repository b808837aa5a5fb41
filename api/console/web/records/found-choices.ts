import type { Choice } from "../client/choices.ts";
import type { Option } from "../parts/combobox-list.tsx";

/** How many choices are remembered. */
const RECENT_MAX = 5;

/** The choices that contain a text in name, code or ID. Those that begin with it come first. */
export function matchingChoices(choices: readonly Choice[], sought: string): readonly Choice[] {
  const text = plain(sought);
  if (text === "") return choices;
  const placed = choices.flatMap((choice) => {
    const at = Math.min(...choice.map((part = "") => placeOf(plain(part), text)));
    return at === Number.POSITIVE_INFINITY ? [] : [{ choice, at: Math.min(at, 1) }];
  });
  return placed.toSorted((a, b) => a.at - b.at).map(({ choice }) => choice);
}

function placeOf(part: string, text: string): number {
  const at = part.indexOf(text);
  return at === -1 ? Number.POSITIVE_INFINITY : at;
}

/** Without accents and case, so that "zurich" finds Zürich. */
function plain(text: string): string {
  return text
    .trim()
    .replace(/^#/, "")
    .normalize("NFD")
    .replace(/\p{Diacritic}/gu, "")
    .toLowerCase();
}

/** The lines of a list. What was chosen lately comes first while nothing is typed. */
export function optionsOf(
  choices: readonly Choice[],
  recent: readonly Choice[],
  sought: string,
): Option[] {
  const first = sought.trim() === "" ? recent : [];
  const known = new Set(first.map(([value]) => value));
  return [
    ...first.map((choice) => optionOf(choice, true)),
    ...choices.filter(([value]) => !known.has(value)).map((choice) => optionOf(choice, false)),
  ];
}

function optionOf([value, words, detail = ""]: Choice, isRecent: boolean): Option {
  return { value, words, detail, isRecent };
}

/** The choices that are remembered after another one. */
export function withRecent(recent: readonly Choice[], choice: Choice): readonly Choice[] {
  return [choice, ...recent.filter(([value]) => value !== choice[0])].slice(0, RECENT_MAX);
}
