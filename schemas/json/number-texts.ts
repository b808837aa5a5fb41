/*
 * A JSON number becomes a float when it is parsed, and loses digits: 7300000000000000001 and 7300000000000000002 are then one order. These
 * functions write numbers as texts before that. Both expect valid JSON: every quotation mark has its partner, and no number is a name.
 */

/** A text, or a number with what stands before it: a name, if it is the value of a field. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:\s*)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;
/** From 2 ** 53 on, a float may be another whole number. Nothing of ours has more than 40 digits; to look at longer numbers would take long. */
const LONG_INTEGER = /(?:^|\D)\d{16,40}(?!\d)/;
const INTEGER = /^-?\d{16,40}$/;
/** A number with a larger exponent stays as it is: no field of ours takes it. */
const EXPONENT_MAX = 40;
/** The most that an amount may have (G219): 0.1 + 0.2 - 0.3 is 5.551115123125783e-17. */
const DECIMALS_MAX = 30;

/** Every number as a text with its own digits: `10.50` becomes `"10.50"`, and `1.5e3` becomes `"1500"`. */
export function numbersAsTexts(json: string): string {
  return json.replace(TOKEN, (token, _text, _colon, number: string | undefined) =>
    number === undefined ? token : `"${plainDecimal(number)}"`,
  );
}

/** Numbers of the named fields, and whole numbers above the range that a float holds without gaps, as texts with their own digits. */
export function digitsKept(json: string, fields: ReadonlySet<string>): string {
  if (fields.size === 0 && !LONG_INTEGER.test(json)) return json;
  let isField = false;
  return json.replace(
    TOKEN,
    (token: string, text: string | undefined, colon: string | undefined) => {
      const isKept = isField;
      isField = colon !== undefined && text !== undefined && fields.has(text.slice(1, -1));
      if (text !== undefined) return token;
      return isKept || isLong(token) ? `"${plainDecimal(token)}"` : token;
    },
  );
}

function isLong(number: string): boolean {
  return INTEGER.test(number) && !Number.isSafeInteger(Number(number));
}

/** A JSON number without an exponent, with all its digits; with an exponent, at most the 30 decimals that an amount may have. */
export function plainDecimal(number: string): string {
  const [mantissa = "", exponent] = number.toLowerCase().split("e");
  const shift = Number(exponent ?? 0);
  const sign = mantissa.startsWith("-") && /[1-9]/.test(mantissa) ? "-" : "";
  const digits = mantissa.replace("-", "");
  if (exponent === undefined) return sign + digits;
  if (Math.abs(shift) > EXPONENT_MAX) return number;
  const [whole = "", fraction = ""] = digits.split(".");
  const all = whole + fraction;
  const point = whole.length + shift;
  const padded = all.padStart(all.length - Math.min(0, point - 1), "0").padEnd(point, "0");
  const at = Math.max(1, point);
  const left = padded.slice(0, at).replace(/^0+(?=\d)/, "");
  const right = padded.slice(at, at + DECIMALS_MAX).replace(/0+$/, "");
  return sign + (right === "" ? left : `${left}.${right}`);
}
