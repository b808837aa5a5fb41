import { type ReactElement, useState } from "react";
import { Link } from "wouter";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress, useList } from "../../client/lists.ts";
import { useMembership } from "../../member/membership.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { givenFilters, type ListFilter, ListFilters } from "../../records/list-filters.tsx";
import { MoreButton } from "../../records/more-button.tsx";
import type { Offer } from "../offers/offer.ts";
import { AccessBadge } from "./access-badge.tsx";
import { AskForAccess } from "./ask-for-access.tsx";
import { payoutText } from "./payout-text.ts";
import { audienceFacts } from "./targeting-words.ts";

const HEIGHT = 320;
const POLL_MS = 10_000;
const SOUGHT: readonly ListFilter[] = [{ name: "q", label: "Name or code" }];
const FILTERS: readonly ListFilter[] = [...SOUGHT, { name: "can_run", label: "Which" }];
const WHICH = [
  ["true", "My offers"],
  [undefined, "All offers"],
] as const;

/** What a partner may promote, and how to get the rest. */
export function OwnOffers(): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const [search, change] = useAddress();
  const [asking, setAsking] = useState<Offer | undefined>();
  const list = useList<Offer>(membership, {
    name: "offers",
    query: givenFilters(search, FILTERS),
    // A decision of the network shows without a reload.
    everyMs: POLL_MS,
    load: async (query, signal) =>
      await read(api.GET("/offers", { params: { query: fromAddress(query) }, signal })),
  });
  const offers = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <h1>Offers</h1>
      <div className="row wrap">
        <div className="segments" role="group" aria-label="Which offers">
          {WHICH.map(([value, words]) => (
            <button
              key={words}
              type="button"
              aria-pressed={(search.get("can_run") ?? undefined) === value}
              onClick={() => change({ can_run: value })}
            >
              {words}
            </button>
          ))}
        </div>
        <ListFilters filters={SOUGHT} search={search} onChange={change} />
      </div>
      {list.isError && <ProblemNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined && !list.isError && <Skeleton height={HEIGHT} />}
      {list.data !== undefined && offers.length === 0 && <strong>No offers here</strong>}
      <div className="cards">
        {offers.map((offer) => (
          <OfferCard key={offer.id} offer={offer} onAsk={() => setAsking(offer)} />
        ))}
      </div>
      <MoreButton list={list} />
      {asking !== undefined && <AskForAccess offer={asking} onClose={() => setAsking(undefined)} />}
    </>
  );
}

function OfferCard({
  offer,
  onAsk,
}: {
  readonly offer: Offer;
  readonly onAsk: () => void;
}): ReactElement {
  const { base } = useMembership();
  const { tracking_link: link, access_status: access, can_run: canRun = false } = offer;
  const [countries] = audienceFacts(offer.targeting);
  return (
    <article className="panel stack tight">
      <header className="row wrap">
        <h2 className="grow break">
          <Link href={`${base}/offers/${offer.id}`}>
            <StrangerText text={offer.name} />
          </Link>
        </h2>
        {offer.is_featured && <span className="badge good">Featured</span>}
        <AccessBadge offer={offer} />
      </header>
      <strong>{payoutText(offer, offer.currency)}</strong>
      {countries !== undefined && <span className="muted">Countries: {countries[1]}</span>}
      <p className="muted">
        <StrangerText text={offer.description} />
      </p>
      {offer.restrictions !== "" && (
        <p className="notice warn">
          <StrangerText text={offer.restrictions} />
        </p>
      )}
      {canRun && link !== undefined ? (
        <div className="row wrap">
          <code className="grow break">{link}</code>
          <CopyButton label="Copy the link" text={link} />
        </div>
      ) : (
        <div className="row">
          <button type="button" className="button" onClick={onAsk}>
            {access === "pending" ? "See your request" : "Ask for access"}
          </button>
        </div>
      )}
    </article>
  );
}
