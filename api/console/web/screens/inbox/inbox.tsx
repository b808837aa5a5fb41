import type { ReactElement } from "react";
import { Link } from "wouter";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { CapMeters } from "../offers/cap-meters.tsx";
import { AccessRequests } from "./access-requests.tsx";

const HEIGHT = 96;
/** Length of `2026-11-25`. */
const DAY_LENGTH = 10;
/** Share of a cap from which it waits here, as GET /attention counts. */
const NEARLY = "0.8";
const REFRESH_MS = 30_000;

type Waiting = { readonly title: string; readonly path: (query: URLSearchParams) => string };

/** Where the rows of a number are. */
const WAITING: Readonly<Record<string, Waiting>> = {
  pending_affiliates: { title: "New partners", path: (query) => `/partners?${query.toString()}` },
  access_requests: { title: "Requests for access", path: () => "/inbox?status=pending" },
  pending_conversions: {
    title: "Pending conversions",
    path: (query) => {
      for (const end of ["from", "to"]) query.set(end, (query.get(end) ?? "").slice(0, DAY_LENGTH));
      return `/conversions?${query.toString()}`;
    },
  },
  disabled_postbacks: {
    title: "Postbacks switched off after failures",
    path: (query) => `/integrations?${query.toString()}`,
  },
  disabled_webhooks: {
    title: "Webhooks switched off after failures",
    path: () => "/integrations/webhooks",
  },
  caps: { title: "Caps nearly reached", path: () => "/inbox#caps" },
  uncertified_domains: { title: "Domains without certificate", path: () => "/workspace/domains" },
};

/** What waits for a decision of the staff. */
export function Inbox(): ReactElement {
  const membership = useMembership();
  const { api, base } = membership;
  const [search] = useAddress();
  const attention = useRecord(membership, {
    name: "attention",
    id: "all",
    everyMs: REFRESH_MS,
    load: async (signal) => (await read(api.GET("/attention", { signal }))).data,
  });
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
        {waiting.map(({ kind, count, is_whole: isWhole, query }) => {
          const { title, path } = WAITING[kind] ?? {
            title: kind.replaceAll("_", " "),
            path: () => "/",
          };
          const reason = (query["status_reason"] ?? "").replaceAll("_", " ");
          const params = new URLSearchParams(
            Object.entries(query).map(([name, value]) => [name, value]),
          );
          return (
            <Link key={`${kind} ${params.toString()}`} className="tile" href={base + path(params)}>
              <span className="name">
                {title}
                {reason !== "" && `: ${reason}`}
              </span>
              <span className="value">
                {formatCount(count)}
                {isWhole ? "" : "+"}
              </span>
            </Link>
          );
        })}
      </div>
      {waiting.some(({ kind }) => kind === "caps") && (
        <section className="panel" id="caps">
          <CapMeters title="Caps nearly reached" query={{ min_share: NEARLY }} namesOwners />
        </section>
      )}
      <AccessRequests status={search.get("status") ?? "pending"} />
    </>
  );
}
