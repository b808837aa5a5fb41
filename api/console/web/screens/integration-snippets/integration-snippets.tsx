import { type ReactElement, useState } from "react";
import { ChoiceField } from "../../parts/choice-field.tsx";
import { GuideLink } from "../../parts/guide-link.tsx";
import { masked } from "../../parts/secret-text.tsx";
import type { Offer } from "../offers/offer.ts";
import { ParameterTable } from "./parameter-table.tsx";
import { SnippetBlock } from "./snippet-block.tsx";
import {
  clickParameterIn,
  pixelMarkup,
  postbackAddress,
  type SnippetTarget,
  scriptCall,
  scriptMarkup,
} from "./snippet-texts.ts";

type SnippetProps = {
  /** Origin of the tracking domain. */
  readonly origin: string;
  /** Undefined for those who may not see it: the address then names its place. */
  readonly token: string | undefined;
};

/** How an advertiser reports conversions of its offers: the address for a server, and the markup for a page, ready to copy. */
export function IntegrationSnippets({
  offers,
  ...props
}: SnippetProps & { readonly offers: readonly Offer[] }): ReactElement {
  const [chosen, setChosen] = useState("");
  const [event, setEvent] = useState("");
  const [first] = offers;
  const offer = offers.find(({ id }) => String(id) === chosen) ?? first;
  if (offer === undefined) return <p className="muted">No offers yet: snippets belong to one.</p>;
  const events = offer.events ?? [];
  const picked = events.find(({ code }) => code === event) ?? events[0];
  return (
    <div className="stack">
      <div className="columns">
        <ChoiceField
          label="Offer"
          value={String(offer.id)}
          choices={offers.map(({ id, name }) => [String(id), name] as const)}
          onChange={setChosen}
        />
        <ChoiceField
          label="Event"
          value={picked?.code ?? ""}
          choices={events.map(({ code, name }) => [code, name === "" ? code : name] as const)}
          onChange={setEvent}
        />
      </div>
      {picked !== undefined && <OfferSnippets {...props} offer={offer} event={picked} />}
      <ParameterTable />
    </div>
  );
}

type Event = NonNullable<Offer["events"]>[number];

/** The three ways for one event. */
function OfferSnippets({
  origin,
  token,
  offer,
  event,
}: SnippetProps & { readonly offer: Offer; readonly event: Event }): ReactElement {
  const [isShown, setShown] = useState(false);
  const clickParameter = clickParameterIn(offer.destination_url);
  const target: SnippetTarget = {
    origin,
    token: token ?? "YOUR_TOKEN",
    offerCode: offer.code,
    eventCode: event.code,
    hasAmount: event.revenue_type === "rps" || event.payout_type === "cps",
    currency: offer.currency,
    clickParameter,
  };
  const address = postbackAddress(target);
  const hidden = token === undefined ? address : address.replace(token, masked(token));
  return (
    <>
      <Arrival clickParameter={clickParameter} />
      {offer.conversion_method === "pixel" ? (
        <p className="notice warn">This offer accepts no calls of servers, only pixels.</p>
      ) : (
        <>
          <SnippetBlock
            title="Server postback"
            shown={isShown ? address : hidden}
            copied={address}
          />
          {token !== undefined && (
            <div className="row">
              <button type="button" className="button" onClick={() => setShown(!isShown)}>
                {isShown ? "Hide the token in the address" : "Show the token in the address"}
              </button>
            </div>
          )}
        </>
      )}
      {offer.conversion_method === "s2s" ? (
        <p className="notice warn">This offer accepts no pixels, only calls of servers.</p>
      ) : (
        <PageSnippets target={target} />
      )}
    </>
  );
}

function PageSnippets({ target }: { readonly target: SnippetTarget }): ReactElement {
  return (
    <>
      <SnippetBlock title="Script for every page" shown={scriptMarkup(target)} />
      <SnippetBlock title="Script call after the sale" shown={scriptCall(target)} />
      <SnippetBlock title="Pixel, where no script may run" shown={pixelMarkup(target)} />
      <div className="row wrap">
        <GuideLink href="/docs/script">About the script</GuideLink>
        <GuideLink href="/docs/pixels">Limits of pixels</GuideLink>
      </div>
    </>
  );
}

/** Where the landing page finds what stands for CLICK_ID. */
function Arrival({
  clickParameter,
}: {
  readonly clickParameter: string | undefined;
}): ReactElement {
  if (clickParameter === undefined)
    return (
      <p className="notice warn">
        The landing page of this offer gets no click ID in its address. Ask for {"{click_id}"} in
        the destination, or use the script.
      </p>
    );
  return (
    <p className="muted">
      Visitors arrive with their click ID in <code>{clickParameter}</code>. Keep it until the sale
      and put it in the place of CLICK_ID. ORDER_ID and AMOUNT are yours to fill in, too.
    </p>
  );
}
