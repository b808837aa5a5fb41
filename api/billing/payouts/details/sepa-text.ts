/** Letters that Unicode does not take apart, and the marks that banks know by another name. */
const LETTERS: ReadonlyMap<string, string> = new Map(
  `ß ss æ ae Æ AE œ oe Œ OE ø o Ø O đ d Đ D ł l Ł L þ th Þ TH ð d Ð D ı i & + _ - @ (at)`
    .split(" ")
    .flatMap((word, index, all): [string, string][] =>
      index % 2 === 0 ? [[word, all[index + 1] ?? "."]] : [],
    ),
);
/** Greek and Cyrillic letters as passports spell them; capitals follow from the small ones. */
const OTHER_ALPHABETS: ReadonlyMap<string, string> = new Map(
  `α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o
   а a б b в v г g д d е e ж zh з z и i к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh щ shch ъ ie
   ы y ь - э e ю iu я ia і i є ie ґ g ў u ј j љ lj њ nj ћ c ђ dj џ dz ѕ dz`
    .split(/\s+/)
    .flatMap((word, index, all): [string, string][] => {
      const spelled = all[index + 1] ?? "";
      if (index % 2 === 1) return [];
      const text = spelled === "-" ? "" : spelled;
      return [
        [word, text],
        [word.toUpperCase(), text.slice(0, 1).toUpperCase() + text.slice(1)],
      ];
    }),
);
/** `щ` is `shch`. */
const LETTERS_PER_LETTER_MAX = 4;
const NOT_ALLOWED = /[^A-Za-z0-9/\-?:().,'+ ]/g;

/** A text in the characters that every bank of SEPA accepts, cut to a length: `Ads & Söhne` → `Ads + Sohne` (N54). */
export function sepaText(text: string, charactersMax: number): string {
  return spelledOut(text)
    .replaceAll(/\s+/g, " ")
    .replaceAll(NOT_ALLOWED, ".")
    .trim()
    .slice(0, charactersMax)
    .trim();
}

/** Whether a name keeps a letter when it is written for banks. `李` does not: who is paid would be a dot. */
export function isSepaName(text: string): boolean {
  return /[A-Za-z]/.test(sepaText(text, text.length * LETTERS_PER_LETTER_MAX));
}

function spelledOut(text: string): string {
  const plain = text.normalize("NFKD").replaceAll(/\p{Mark}/gu, "");
  return Array.from(
    plain,
    (character) => LETTERS.get(character) ?? OTHER_ALPHABETS.get(character) ?? character,
  ).join("");
}
