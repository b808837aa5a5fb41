import { ListOrdered } from "lucide-react";
import type { ReactElement } from "react";
import { Link } from "wouter";
import { mayDo, useMembership } from "../../member/membership.ts";

/** All records by their money. A list has one page at a time, and sorting that page alone would be a false answer; a report sorts all of them. */
export function RankingLink({
  entity,
  by,
}: {
  readonly entity: "offer" | "affiliate" | "advertiser";
  readonly by: "payout" | "revenue";
}): ReactElement | null {
  const membership = useMembership();
  if (!mayDo(membership, "reports.read")) return null;
  const params = new URLSearchParams({ preset: "last30", group_by: entity, sort: `-${by}` });
  return (
    <Link
      className="button"
      href={`${membership.base}/reports?${params.toString()}`}
      title={`Report of the last 30 days, highest ${by} first`}
    >
      <ListOrdered size={14} aria-hidden /> Ranking
    </Link>
  );
}
