import { AMOUNT_SCALE_DIGITS, type Amount } from "./amount.ts";

/** Digits after the point of the coins of a currency, by ISO 4217; two for every other one. */
const DIGITS: ReadonlyMap<string, number> = new Map([
  ..."BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
    .split(" ")
    .map((currency): [string, number] => [currency, 0]),
  ..."BHD IQD JOD KWD LYD OMR TND".split(" ").map((currency): [string, number] => [currency, 3]),
]);
const DIGITS_USUAL = 2;

/** 2 for EUR, 0 for JPY, 3 for KWD (N6). */
export function minorDigits(currency: string): number {
  return DIGITS.get(currency) ?? DIGITS_USUAL;
}

/** The part of an amount that can be paid: toward zero, to whole coins (N48). What is cut off is less than a coin. */
export function cutToCoins(amount: Amount, currency: string): Amount {
  return amount - (amount % coinOf(currency));
}

/** To whole coins, half away from zero (N48). */
export function roundToCoins(amount: Amount, currency: string): Amount {
  const coin = coinOf(currency);
  const half = coin / 2n;
  return cutToCoins(amount < 0n ? amount - half : amount + half, currency);
}

/** An amount of whole coins as banks write it: `1840.55`, `1840` of JPY. Any smaller part is cut off. */
export function formatCoins(amount: Amount, currency: string): string {
  const digits = minorDigits(currency);
  const coins = amount / coinOf(currency);
  const magnitude = (coins < 0n ? -coins : coins).toString().padStart(digits + 1, "0");
  const sign = coins < 0n ? "-" : "";
  if (digits === 0) return `${sign}${magnitude}`;
  return `${sign}${magnitude.slice(0, -digits)}.${magnitude.slice(-digits)}`;
}

/** The smallest coin of a currency as an amount: 100 ten-thousandths for a cent. */
function coinOf(currency: string): Amount {
  return 10n ** BigInt(AMOUNT_SCALE_DIGITS - minorDigits(currency));
}
