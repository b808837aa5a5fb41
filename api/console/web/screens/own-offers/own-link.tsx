import type { ReactElement } from "react";
import { GuideLink } from "../../parts/guide-link.tsx";
import { LinkHostField, useLinkHost } from "../links/link-host.tsx";
import { LinkPartFields, pageOf, useLinkParts } from "../links/link-parts.tsx";
import { MadeLink } from "../links/made-link.tsx";
import type { Offer } from "../offers/offer.ts";

/** The partner's link, with what the partner wants to know about a click later. */
export function OwnLink({ offer }: { readonly offer: Offer }): ReactElement {
  const parts = useLinkParts();
  const domain = useLinkHost(offer.id);
  return (
    <section className="panel stack">
      <header className="row wrap">
        <h2 className="grow">Your tracking link</h2>
        <GuideLink href="/docs/sub-ids">About sub IDs</GuideLink>
      </header>
      <MadeLink
        query={{ ...parts.values, offer: String(offer.id), host: domain.host }}
        page={pageOf(parts)}
        known={offer.tracking_link}
      />
      <LinkHostField link={domain} />
      <LinkPartFields parts={parts} hasPage />
    </section>
  );
}
