import type { ReactElement } from "react";
import { Link } from "wouter";
import { useAddress } from "../../address/use-address.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { hasRight } from "../../member/rights.ts";
import { useAttention } from "../../member/use-attention.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { CapMeters } from "../offers/cap-meters.tsx";
import { AccessRequests } from "./access-requests.tsx";
import { waitingPlace } from "./waiting-place.ts";

const HEIGHT = 96;
/** Share of a cap from which it waits here, as GET /attention counts. */
const NEARLY = "0.8";

/** What waits for a decision of the staff. */
export function Inbox(): ReactElement {
  const membership = useMembership();
  const { base } = membership;
  const [search] = useAddress();
  const attention = useAttention();
  const waiting = attention.data?.filter(({ count }) => count > 0) ?? [];
  return (
    <>
      <h1>Inbox</h1>
      {attention.isError && (
        <ProblemNotice error={attention.error} onRetry={() => void attention.refetch()} />
      )}
      {attention.data === undefined && !attention.isError && <Skeleton height={HEIGHT} />}
      {attention.data !== undefined && waiting.length === 0 && (
        <section className="panel">
          <strong>You're all caught up</strong>
          <p className="muted">
            New partners, requests for access and pending conversions show up here.
          </p>
        </section>
      )}
      <div className="tiles">
        {waiting.map((item) => {
          const { title, path } = waitingPlace(item);
          return (
            <Link key={`${item.kind} ${path}`} className="tile" href={base + path}>
              <span className="name">{title}</span>
              <span className="value">
                {formatCount(item.count)}
                {item.is_whole ? "" : "+"}
              </span>
            </Link>
          );
        })}
      </div>
      {hasRight(membership, "offers.read") && waiting.some(({ kind }) => kind === "caps") && (
        <section className="panel" id="caps">
          <CapMeters title="Caps nearly reached" query={{ min_share: NEARLY }} namesOwners />
        </section>
      )}
      {hasRight(membership, ["offers.read", "affiliates.read"]) && (
        <AccessRequests status={search.get("status") ?? "pending"} />
      )}
    </>
  );
}
