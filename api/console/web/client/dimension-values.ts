import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { type Reader, type ReportRow, readReport } from "./reports.ts";

/** A value that a dimension had. `detail` is what else tells it apart, such as the code of an offer; "" for nothing. */
export type DimensionValue = {
  readonly value: string;
  readonly label: string;
  readonly detail: string;
  readonly clicks: number;
};

/** An answer with so many may have left some out. */
export const VALUES_MAX = 200;
const FRESH_MS = 60_000;

/** The rows of which values are counted: range and filters, as a report has them. */
export type CountedWithin = Readonly<Record<string, string>>;

const LATELY: CountedWithin = { preset: "last30" };

/** The values that a dimension had, those with most clicks first. Undefined asks for nothing. */
export function useDimensionValues(
  reader: Reader,
  dimension: string | undefined,
  within: CountedWithin = LATELY,
): UseQueryResult<readonly DimensionValue[]> {
  return useQuery({
    queryKey: [reader.membershipId, "dimension-values", dimension, within],
    staleTime: FRESH_MS,
    enabled: dimension !== undefined,
    queryFn: async () => await readDimensionValues(reader, dimension ?? "", within),
  });
}

export async function readDimensionValues(
  reader: Reader,
  dimension: string,
  within: CountedWithin = LATELY,
): Promise<readonly DimensionValue[]> {
  const { data } = await readReport(reader, {
    ...within,
    group_by: dimension,
    metrics: "clicks",
    sort: "-clicks",
    limit: String(VALUES_MAX),
  });
  return data.flatMap((row) => valueIn(row, dimension));
}

/** None for what a filter finds as empty: no text, or the ID 0 of no record. */
function valueIn(row: ReportRow, dimension: string): DimensionValue[] {
  const value = row[dimension];
  const isRecord = row[`${dimension}_label`] !== undefined;
  if (value === null || value === undefined || value === "") return [];
  if (isRecord && value === 0) return [];
  return [
    {
      value: String(value),
      label: String(row[`${dimension}_label`] ?? value),
      detail: String(row[`${dimension}_sub`] ?? ""),
      clicks: Number(row["clicks"] ?? 0),
    },
  ];
}
