import { ownLocale } from "./own-format.ts";

/** Digits after the point that the API sends. */
const DIGITS_SENT = 4;

/**
 * An amount as people read it. `text` is the exact decimal string of the API and never becomes a number: Intl formats it as it is. Shows the
 * digits of the currency's minor unit, and up to four where the amount has them.
 */
export function formatMoney(text: string, currency: string, locale = ownLocale()): string {
  return formatterOf(currency, digitsOf(text, currency), locale).format(decimal(text));
}

/** A sum of many amounts in the digits of the currency's minor unit, rounded half away from zero. {@link formatMoney} has all of it. */
export function formatSum(text: string, currency: string, locale = ownLocale()): string {
  return formatterOf(currency, minorUnitOf(currency), locale).format(decimal(text));
}

type Decimal = Parameters<Intl.NumberFormat["format"]>[0];

/** @throws if the API sent anything but a decimal. */
function decimal(text: string): Decimal {
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) throw new Error(`not an amount: ${text}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form was just checked
  return text as Decimal;
}

const formatters = new Map<string, Intl.NumberFormat>();

function formatterOf(
  currency: string,
  digits: number,
  locale: string | undefined,
): Intl.NumberFormat {
  const key = `${locale ?? ""} ${currency} ${digits}`;
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    formatter = new Intl.NumberFormat(locale, {
      style: "currency",
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    formatters.set(key, formatter);
  }
  return formatter;
}

/** The digits that say something beyond the minor unit, such as 4 for 0.0125. */
function digitsOf(text: string, currency: string): number {
  const [, fraction = ""] = text.split(".");
  const used = fraction.replace(/0+$/, "").length;
  const usual = minorUnitOf(currency);
  return used > usual ? DIGITS_SENT : usual;
}

const minorUnits = new Map<string, number>();

function minorUnitOf(currency: string): number {
  let digits = minorUnits.get(currency);
  if (digits === undefined) {
    const options = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions();
    digits = options.maximumFractionDigits ?? 2;
    minorUnits.set(currency, digits);
  }
  return digits;
}
