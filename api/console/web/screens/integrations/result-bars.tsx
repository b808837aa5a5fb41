import type { ReactElement } from "react";
import type { AddressChange } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { useRecord } from "../../client/records.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Bars } from "../../plots/bars.tsx";
import { heightOf } from "../../plots/pixels.ts";
import { rangeQuery } from "../../records/record-range.ts";
import { resultWords } from "./inbound-words.ts";

const HEIGHT = 180;

/** How many inbound calls had which result. A bar lists its calls. */
export function ResultBars({
  search,
  onChange,
}: {
  readonly search: URLSearchParams;
  readonly onChange: (change: AddressChange) => void;
}): ReactElement | null {
  const membership = useMembership();
  const query = { ...rangeQuery(search), interval: "day" };
  const summary = useRecord(membership, {
    name: "inbound-summary",
    id: JSON.stringify(query),
    load: async (signal) =>
      await read(
        membership.api.GET("/postback-log/summary", {
          params: { query: fromAddress(query) },
          signal,
        }),
      ),
  });
  if (summary.isError) return <ProblemNotice error={summary.error} />;
  if (summary.data === undefined) return <Skeleton height={HEIGHT} />;
  const counts = new Map<string, number>();
  for (const { result, count } of summary.data.data)
    counts.set(result, (counts.get(result) ?? 0) + count);
  const bars = [...counts].sort(([, one], [, other]) => other - one);
  if (bars.length === 0) return null;
  return (
    <Bars
      title="Incoming postbacks by result"
      says={
        summary.data.is_whole
          ? "All calls of this range"
          : "The newest million calls of this range: earlier ones are not counted"
      }
      heading="Result"
      valueHeading="Calls"
      bars={bars.map(([result, value]) => ({
        key: result,
        label: resultWords(result),
        value,
      }))}
      format={(value) => formatCount(heightOf(value) ?? 0)}
      onPick={(result) => onChange({ result })}
    />
  );
}
