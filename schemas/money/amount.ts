import assert from "node:assert";

/**
 * An amount of money in ten-thousandths of its currency's unit: `125000n` is 12.5000. The record that contains it also has its currency.
 * Amounts of different currencies are never added (ENV-021). No float touches money (P20).
 */
export type Amount = bigint;

/** Decimals of an amount. */
export const AMOUNT_SCALE_DIGITS = 4;
const SCALE = 10_000n;
/** The largest amount of 14 + 4 digits, which is what our databases store. */
export const AMOUNT_STORED_MAX: Amount = 10n ** 18n - 1n;
/** 100 percent in ten-thousandths of percent points, the unit of cps and rps rates (G45). */
const PERCENT_WHOLE = 100n * SCALE;
const PLAIN_DECIMAL = /^(\d{1,14})(?:\.(\d{1,4}))?$/;

/** Reads a plain non-negative decimal of at most 14 + 4 digits (G22); anything else is undefined. */
export function parseAmount(text: string): Amount | undefined {
  const match = PLAIN_DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, whole = "0", fraction = ""] = match;
  return BigInt(whole) * SCALE + BigInt(fraction.padEnd(AMOUNT_SCALE_DIGITS, "0"));
}

/** Decimals of an amount that a shop computes with floats, such as 3.3000000000000003, and some more. */
const SENT_DIGITS_MAX = 30;
const SENT_DECIMAL = /^\+?(\d{0,14})(?:\.(\d{0,30}))?$/;

/**
 * Reads an amount as shops send it: up to 30 decimals, rounded half away from zero to four (G23, G219); also `49.`, `.5` and `+5`. Undefined
 * for anything else.
 */
export function parseSentAmount(text: string): Amount | undefined {
  const match = SENT_DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  if (whole === "" && fraction === "") return undefined;
  const exact = BigInt(whole + fraction.padEnd(SENT_DIGITS_MAX, "0"));
  return divideRounded(exact, 10n ** BigInt(SENT_DIGITS_MAX - AMOUNT_SCALE_DIGITS));
}

/** Why {@link parseSentAmount} does not read a text, as the end of a sentence about it. Undefined for a negative amount, which the error itself names. */
export function amountFault(text: string): string | undefined {
  if (text.startsWith("-") || text.startsWith("\u2212")) return undefined;
  if (/^[+\d.]+e[+-]?\d+$/i.test(text)) return "has an exponent: write all digits, such as 1200.50";
  if (/^\+?\d*\.\d{31,}$/.test(text)) return `has more than ${SENT_DIGITS_MAX} decimals`;
  if (/^\+?\d{15,}(?:\.\d*)?$/.test(text)) return "is too large";
  if (text.includes(",")) return "has a comma: write 1200.50, not 1,200.50 or 1200,50";
  return "is not a plain decimal such as 1200.50";
}

/** Reads a decimal from one of our databases; it may be negative. @throws {AssertionError} for anything else. */
export function amountOf(stored: string): Amount {
  const negative = stored.startsWith("-");
  const amount = parseAmount(negative ? stored.slice(1) : stored);
  assert(amount !== undefined, "a stored amount is a decimal with at most four places");
  return negative ? -amount : amount;
}

/** The decimal string of the contract, always with four places (ENV-005). */
export function formatAmount(amount: Amount): string {
  const magnitude = amount < 0n ? -amount : amount;
  const fraction = (magnitude % SCALE).toString().padStart(AMOUNT_SCALE_DIGITS, "0");
  return `${amount < 0n ? "-" : ""}${magnitude / SCALE}.${fraction}`;
}

/** `percent` percent points of `sale`, rounded half away from zero to a ten-thousandth (G23, G45). */
export function percentOf(sale: Amount, percent: Amount): Amount {
  return divideRounded(sale * percent, PERCENT_WHOLE);
}

/** `amount * numerator / denominator`, rounded once, half away from zero: a currency conversion by two rates (G76). */
export function scaleAmount(amount: Amount, numerator: bigint, denominator: bigint): Amount {
  assert(denominator > 0n, "a rate is positive");
  return divideRounded(amount * numerator, denominator);
}

function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const half = divisor / 2n;
  return dividend >= 0n ? (dividend + half) / divisor : -((-dividend + half) / divisor);
}
