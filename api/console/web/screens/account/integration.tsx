import type { ReactElement } from "react";
import { Link } from "wouter";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { GuideLink } from "../../parts/guide-link.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { IntegrationSnippets } from "../integration-snippets/integration-snippets.tsx";
import { CheckCall } from "./check-call.tsx";
import { PostbackToken } from "./postback-token.tsx";
import { ReceivedEvents } from "./received-events.tsx";
import { useOwnToken } from "./use-own-token.ts";

const OFFERS_MAX = 200;
const HEIGHT = 420;

/** How an advertiser reports its sales, whether they arrive, and a way to try it. */
export function Integration(): ReactElement {
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Integration</h1>
        <GuideLink href="/docs">Integration guide</GuideLink>
      </div>
      <OwnSnippets />
      <CheckCall />
      <ReceivedEvents />
      <PostbackToken />
    </>
  );
}

function OwnSnippets(): ReactElement {
  const membership = useMembership();
  const { api, base } = membership;
  const token = useOwnToken();
  const offers = useRecord(membership, {
    name: "offers",
    id: "of-snippets",
    load: async (signal) =>
      (await read(api.GET("/offers", { params: { query: { limit: OFFERS_MAX } }, signal }))).data,
  });
  const failed = token.error ?? offers.error;
  const origin = token.data?.tracking_url;
  return (
    <section className="panel stack">
      <header className="row wrap">
        <h2 className="grow">Report conversions</h2>
        <Link className="button plain" href={`${base}/inbound`}>
          Incoming postbacks
        </Link>
      </header>
      {failed !== null && (
        <ProblemNotice
          error={failed}
          onRetry={() => void Promise.all([token.refetch(), offers.refetch()])}
        />
      )}
      {failed === null && (token.data === undefined || offers.data === undefined) && (
        <Skeleton height={HEIGHT} />
      )}
      {origin === null && (
        <p className="notice warn">The workspace has no tracking domain yet. Ask its team.</p>
      )}
      {token.data !== undefined && offers.data !== undefined && typeof origin === "string" && (
        <IntegrationSnippets
          origin={origin}
          token={token.data.postback_token}
          offers={offers.data}
        />
      )}
    </section>
  );
}
