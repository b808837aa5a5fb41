import type { ReactElement } from "react";

/** Text from visitors and partners. Its direction stays inside, and control characters are visible. */
export function StrangerText({ text }: { readonly text: string }): ReactElement {
  return <bdi>{visible(text)}</bdi>;
}

const CONTROL_PICTURES = 0x2400;
const DELETE_PICTURE = "\u2421";

function visible(text: string): string {
  return Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(CONTROL_PICTURES + code);
    return code === 0x7f ? DELETE_PICTURE : character;
  }).join("");
}
