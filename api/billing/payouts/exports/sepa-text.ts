/** Letters that Unicode does not take apart, and the marks that banks know by another name. */
const LETTERS: ReadonlyMap<string, string> = new Map(
  `ß ss æ ae Æ AE œ oe Œ OE ø o Ø O đ d Đ D ł l Ł L þ th Þ TH ð d Ð D ı i & + _ - @ (at)`
    .split(" ")
    .flatMap((word, index, all): [string, string][] =>
      index % 2 === 0 ? [[word, all[index + 1] ?? "."]] : [],
    ),
);
const NOT_ALLOWED = /[^A-Za-z0-9/\-?:().,'+ ]/g;

/** A text in the characters that every bank of SEPA accepts, cut to a length: `Ads & Söhne` → `Ads + Sohne` (N54). */
export function sepaText(text: string, charactersMax: number): string {
  const spelled = Array.from(text, (character) => LETTERS.get(character) ?? character).join("");
  return spelled
    .normalize("NFKD")
    .replaceAll(/\p{Mark}/gu, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(NOT_ALLOWED, ".")
    .trim()
    .slice(0, charactersMax)
    .trim();
}
