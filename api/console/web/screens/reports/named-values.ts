import { useQueries, useQuery } from "@tanstack/react-query";
import {
  advertiserChoices,
  affiliateIdChoices,
  type LoadChoices,
  offerIdChoices,
} from "../../client/choices.ts";
import {
  type CountedWithin,
  type DimensionValue,
  useDimensionValues,
} from "../../client/dimension-values.ts";
import type { Dimension } from "../../client/reports.ts";
import { formatCountry } from "../../format/country.ts";
import { valueWords } from "../../format/value-words.ts";
import { type Membership, useMembership } from "../../member/membership.ts";
import { COUNTRY_CODES } from "../../plots/country-numbers.ts";

const FRESH_MS = 60_000;
/** Records of these dimensions are found by name, also without traffic. */
const RECORDS: Readonly<Record<string, LoadChoices>> = {
  offer: offerIdChoices,
  affiliate: affiliateIdChoices,
  advertiser: advertiserChoices,
};

/** Partners and advertisers see the names in their reports only. */
function recordsOf({ role }: Membership, dimension: string | undefined): LoadChoices | undefined {
  if (role === "partner" || role === "advertiser" || dimension === undefined) return undefined;
  return RECORDS[dimension];
}

/** Dimensions whose values are IDs or codes, which people know by other words. */
const NAMED: ReadonlySet<string> = new Set([
  ...Object.keys(RECORDS),
  "smart_link",
  "manager",
  "country",
]);
const COUNTRIES: readonly DimensionValue[] = COUNTRY_CODES.map((code) => ({
  value: code,
  label: formatCountry(code),
  detail: code,
  clicks: 0,
})).toSorted((a, b) => a.label.localeCompare(b.label));

/** Whether a filter takes only values that are chosen by name. Others may be typed. */
export function isNamed({ name }: Dimension): boolean {
  return NAMED.has(name);
}

/** Values of a dimension to choose from, if their name or code contains the text: first those with traffic. `isWhole`: no answer is awaited. */
export function useValues(
  dimension: string,
  sought: string,
  within?: CountedWithin,
): { readonly values: readonly DimensionValue[]; readonly isWhole: boolean } {
  const membership = useMembership();
  const seen = useDimensionValues(membership, dimension, within);
  const records = recordsOf(membership, dimension);
  const found = useQuery({
    queryKey: [membership.membershipId, "choices", records?.name, sought],
    staleTime: FRESH_MS,
    enabled: records !== undefined && sought !== "",
    queryFn: async ({ signal }) =>
      records === undefined ? undefined : await records.load(membership, sought, signal),
  });
  const known = (seen.data ?? []).map((one) =>
    dimension === "country"
      ? { ...one, label: formatCountry(one.value), detail: one.value }
      : { ...one, label: valueWords(dimension, one.label) },
  );
  const others =
    dimension === "country"
      ? COUNTRIES
      : (found.data?.choices ?? []).map(([value, label, detail = ""]) => ({
          value,
          label,
          detail,
          clicks: 0,
        }));
  const seenValues = new Set(known.map(({ value }) => value));
  return {
    values: [...known, ...others.filter(({ value }) => !seenValues.has(value))].filter((one) =>
      matches(one, sought),
    ),
    isWhole: !seen.isPending && !found.isFetching,
  };
}

function matches({ value, label, detail }: DimensionValue, sought: string): boolean {
  const text = sought.trim().toLowerCase();
  return [value, label, detail].some((one) => one.toLowerCase().includes(text));
}

/** What people call the values of a filter; the value itself until its name is known. */
export function useValueNames(dimension: string, values: readonly string[]): string[] {
  const membership = useMembership();
  const isEntity = NAMED.has(dimension) && dimension !== "country";
  const seen = useDimensionValues(membership, isEntity ? dimension : undefined);
  const known = new Map(seen.data?.map(({ value, label }) => [value, label]));
  const records = recordsOf(membership, dimension);
  const asked = values.map((id) => ({
    queryKey: [membership.membershipId, "record-name", records?.name, id],
    staleTime: FRESH_MS,
    enabled: records?.nameOf !== undefined && seen.data !== undefined && !known.has(id),
    queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
      (await records?.nameOf?.(membership, id, signal)) ?? id,
  }));
  const named = useQueries({ queries: asked });
  return values.map((value, at) =>
    isEntity ? (known.get(value) ?? named[at]?.data ?? `#${value}`) : valueWords(dimension, value),
  );
}
