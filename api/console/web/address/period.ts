import { isPreset, type Preset } from "../../../../schemas/time/presets.ts";

/** Which days a screen shows, as they stand in the address: the same names as in the API. */
export type Period = {
  readonly range: { readonly preset: Preset } | { readonly from: string; readonly to: string };
  readonly compare: Compare | undefined;
  /** Undefined: the currency of the workspace. */
  readonly currency: string | undefined;
  /** Whether money in other currencies is converted at the rate of its day. */
  readonly isConverted: boolean;
};

export const COMPARES = ["previous", "previous_year"] as const;
export type Compare = (typeof COMPARES)[number];

/** A parameter that was not understood. The screen goes on without it. */
export type AddressFault = { readonly parameter: string; readonly message: string };

const DEFAULT_PRESET: Preset = "last30";
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const CURRENCY = /^[A-Z]{3}$/;

/** Stands in the address of a screen that would compare without it. */
const NOT_COMPARED = "none";

/** `usual` is what an address is compared with that does not say it. */
export function readPeriod(
  search: URLSearchParams,
  usual?: Compare,
): {
  readonly period: Period;
  readonly faults: AddressFault[];
} {
  const faults: AddressFault[] = [];
  const compare = readCompare(search, usual, faults);
  const currency = search.get("currency") ?? undefined;
  const isCurrency = currency === undefined || CURRENCY.test(currency);
  if (!isCurrency) faults.push({ parameter: "currency", message: "three letters, such as EUR" });
  return {
    period: {
      range: readRange(search, faults),
      compare,
      currency: isCurrency ? currency : undefined,
      isConverted: search.get("convert") === "1",
    },
    faults,
  };
}

/** The parameters of the API and of the address. */
export function periodParams({
  range,
  compare,
  currency,
  isConverted,
}: Period): Record<string, string> {
  return {
    ...range,
    ...(compare === undefined ? {} : { compare }),
    ...(currency === undefined ? {} : { currency }),
    ...(isConverted ? { convert: "1" } : {}),
  };
}

/** The address of a screen that compares by default. */
export function comparedParams(period: Period): Record<string, string> {
  return { ...periodParams(period), compare: period.compare ?? NOT_COMPARED };
}

/** The range alone, as lists take it. */
export function rangeParams({ range }: Pick<Period, "range">): Record<string, string> {
  return { ...range };
}

/** Hours for a day or two, else days. */
export function intervalOf({ range }: Period): "hour" | "day" {
  if ("preset" in range)
    return range.preset === "today" || range.preset === "yesterday" ? "hour" : "day";
  return range.from === range.to ? "hour" : "day";
}

function readCompare(
  search: URLSearchParams,
  usual: Compare | undefined,
  faults: AddressFault[],
): Compare | undefined {
  const given = search.get("compare");
  if (given === NOT_COMPARED) return undefined;
  return given === null ? usual : oneOf(search, { name: "compare", allowed: COMPARES }, faults);
}

function readRange(search: URLSearchParams, faults: AddressFault[]): Period["range"] {
  const from = search.get("from");
  const to = search.get("to");
  if (from !== null && to !== null) {
    if (DAY.test(from) && DAY.test(to) && from <= to) return { from, to };
    faults.push({ parameter: "from", message: "two days, such as 2026-11-01 and 2026-11-30" });
    return { preset: DEFAULT_PRESET };
  }
  const preset = search.get("preset");
  if (preset === null) return { preset: DEFAULT_PRESET };
  if (isPreset(preset)) return { preset };
  faults.push({ parameter: "preset", message: "unknown range" });
  return { preset: DEFAULT_PRESET };
}

/** One of some words. Anything else is left out and becomes a fault. */
export function oneOf<T extends string>(
  search: URLSearchParams,
  { name, allowed }: { readonly name: string; readonly allowed: readonly T[] },
  faults: AddressFault[],
): T | undefined {
  const given = search.get(name);
  if (given === null || given === "") return undefined;
  const found = allowed.find((one) => one === given);
  if (found === undefined)
    faults.push({ parameter: name, message: `one of ${allowed.join(", ")}` });
  return found;
}
