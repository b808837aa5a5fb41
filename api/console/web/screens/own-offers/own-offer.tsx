import { type ReactElement, useState } from "react";
import { Link, useParams } from "wouter";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { Facts } from "../../parts/facts.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { linkOrNothing } from "../../parts/safe-link.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { Offer } from "../offers/offer.ts";
import { AccessBadge } from "./access-badge.tsx";
import { AccessReply } from "./access-reply.tsx";
import { AskForAccess, Terms } from "./ask-for-access.tsx";
import { OwnCreatives } from "./own-creatives.tsx";
import { OwnEvents } from "./own-events.tsx";
import { OwnLink } from "./own-link.tsx";
import { payoutText } from "./payout-text.ts";
import { audienceFacts } from "./targeting-words.ts";

const HEIGHT = 420;
const POLL_MS = 10_000;

/** All that a partner needs to promote one offer. */
export function OwnOffer(): ReactElement {
  const membership = useMembership();
  const { api, base } = membership;
  const { id } = useParams<{ id: string }>();
  const offer = useRecord<Offer>(membership, {
    name: "offers",
    id,
    // A decision of the network shows without a reload.
    everyMs: POLL_MS,
    load: async (signal) =>
      (await read(api.GET("/offers/{id}", { params: { path: { id } }, signal }))).data,
  });
  return (
    <>
      <div className="row">
        <Link className="button plain" href={`${base}/offers`}>
          All offers
        </Link>
      </div>
      {offer.isError && (
        <>
          <h1>Offer</h1>
          <ProblemNotice error={offer.error} onRetry={() => void offer.refetch()} />
        </>
      )}
      {offer.data === undefined && !offer.isError && (
        <>
          <h1>Offer</h1>
          <Skeleton height={HEIGHT} />
        </>
      )}
      {offer.data !== undefined && <Shown offer={offer.data} />}
    </>
  );
}

function Shown({ offer }: { readonly offer: Offer }): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const { can_run: canRun = false, access_status: access } = offer;
  return (
    <>
      <div className="row wrap">
        <h1 className="grow break">
          <StrangerText text={offer.name} />
        </h1>
        <AccessBadge offer={offer} />
        {!canRun && (
          <button type="button" className="button first" onClick={() => setAsking(true)}>
            {access === "pending" ? "See your request" : "Ask for access"}
          </button>
        )}
      </div>
      <AccessReply offer={offer} />
      {offer.status === "paused" && (
        <p className="notice warn">This offer is paused: clicks are not sent to it.</p>
      )}
      {canRun && <OwnLink offer={offer} />}
      <About offer={offer} />
      <OwnEvents offer={offer} />
      <section className="panel stack">
        <Terms offer={offer} none="No terms to accept." />
      </section>
      <OwnCreatives offer={offer} />
      {isAsking && <AskForAccess offer={offer} onClose={() => setAsking(false)} />}
    </>
  );
}

function About({ offer }: { readonly offer: Offer }): ReactElement {
  return (
    <section className="panel stack">
      <h2>About this offer</h2>
      {offer.description !== "" && (
        <p className="break">
          <StrangerText text={offer.description} />
        </p>
      )}
      {offer.restrictions !== "" && (
        <p className="notice warn break">
          <StrangerText text={offer.restrictions} />
        </p>
      )}
      <Facts
        facts={[
          ["Payout", payoutText(offer, offer.currency)],
          ["Preview", linkOrNothing(offer.preview_url)],
          ["Category", offer.category],
          ...audienceFacts(offer.targeting),
          [
            "A click counts for",
            offer.attribution_days === 1 ? "1 day" : `${offer.attribution_days} days`,
          ],
          [
            "Repeats",
            offer.unique_per_click ? "One conversion for a click and event" : "Several for a click",
          ],
          ["Code", offer.code],
        ]}
      />
    </section>
  );
}
