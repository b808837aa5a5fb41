import { RATES } from "./shop.ts";

/** Ten-thousandths of a plain decimal. */
export function units(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(`${whole}${fraction.padEnd(4, "0")}`);
}

export function decimal(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(5, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

/** Of a rate in percent points, both in ten-thousandths; rounded half away from zero. */
export function share(sale: bigint, percent: bigint): bigint {
  return (2n * sale * percent + 1_000_000n) / 2_000_000n;
}

/** By the reference rates, rounded once. */
export function exchanged(amount: bigint, from: string, to: string): bigint {
  const [numerator, denominator] = [rateOf(to), rateOf(from)];
  return (2n * amount * numerator + denominator) / (2n * denominator);
}

/** With ten digits behind the point. */
function rateOf(currency: string): bigint {
  const [whole = "", fraction = ""] = (RATES[currency] ?? "").split(".");
  return BigInt(`${whole}${fraction.padEnd(10, "0")}`);
}
