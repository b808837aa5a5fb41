import { RATES } from "./shop.ts";

/** A plain decimal in ten-thousandths. */
export function units(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(`${whole}${fraction.padEnd(4, "0")}`);
}

export function decimal(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(5, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

/** The share of a sale. `percent` and `sale` are in ten-thousandths; the result is rounded half away from zero. */
export function share(sale: bigint, percent: bigint): bigint {
  return (2n * sale * percent + 1_000_000n) / 2_000_000n;
}

/** Exchanges by the reference rates and rounds once. */
export function exchanged(amount: bigint, from: string, to: string): bigint {
  const [numerator, denominator] = [rateOf(to), rateOf(from)];
  return (2n * amount * numerator + denominator) / (2n * denominator);
}

/** The rate with ten decimal places. */
function rateOf(currency: string): bigint {
  const [whole = "", fraction = ""] = (RATES[currency] ?? "").split(".");
  return BigInt(`${whole}${fraction.padEnd(10, "0")}`);
}
