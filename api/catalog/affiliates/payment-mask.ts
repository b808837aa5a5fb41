const ENDS = 4;
const ENDS_FROM = 12;
/** Stands for what a mask leaves out. */
export const LEFT_OUT = "…";
const MASK_LENGTH_MAX = ENDS + LEFT_OUT.length + ENDS;

/** A payment detail as answers and logs show it: `DE89…3000`. */
export function masked(value: string): string {
  if (value.length >= ENDS_FROM) return value.slice(0, ENDS) + LEFT_OUT + value.slice(-ENDS);
  return value.length >= ENDS ? value.slice(0, 1) + LEFT_OUT + value.slice(-1) : LEFT_OUT;
}

/** The details of a partner's record, of which some may be masks already, without any in the clear. */
export function maskedTexts(texts: unknown): Record<string, string> {
  if (typeof texts !== "object" || texts === null) return {};
  return Object.fromEntries(
    Object.entries(texts).map(([name, value]: [string, unknown]): [string, string] => {
      const text = String(value);
      const isMask = text.length <= MASK_LENGTH_MAX && text.includes(LEFT_OUT);
      return [name, isMask ? text : masked(text)];
    }),
  );
}
