import { type ReactElement, useState } from "react";
import { affiliateChoices, offerChoices } from "../../client/choices.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { ChoiceField } from "../../parts/choice-field.tsx";
import { GuideLink } from "../../parts/guide-link.tsx";
import { RecordChoice } from "../../records/record-choice.tsx";
import { type LinkHost, LinkHostField, useAnyLinkHost, useLinkHost } from "./link-host.tsx";
import { LinkPartFields, type LinkParts, pageOf, useLinkParts } from "./link-parts.tsx";
import { type CheckedTemplate, type LinkQuery, MadeLink, useTrackingLink } from "./made-link.tsx";
import { TemplateCheck } from "./template-check.tsx";

const REDIRECT = "affiliate";
const NO_TEMPLATE: CheckedTemplate = { template: "", suffix: "" };

/** Makes the link of a partner to an offer, and checks the templates of ad platforms. */
export function Links(): ReactElement {
  const membership = useMembership();
  const [checked, check] = useState<CheckedTemplate>(NO_TEMPLATE);
  const mayCheck = mayDo(membership, "tools.lint");
  return (
    <>
      <h1>Links</h1>
      <Builder onCheck={mayCheck ? check : undefined} />
      {mayCheck && <TemplateCheck value={checked} onChange={check} />}
    </>
  );
}

type OnCheck = ((template: CheckedTemplate) => void) | undefined;

function Builder({ onCheck }: { readonly onCheck: OnCheck }): ReactElement {
  const isStaff = useMembership().role !== "partner";
  const [offer, setOffer] = useState("");
  const [type, setType] = useState(REDIRECT);
  const [partner, setPartner] = useState("");
  const parts = useLinkParts();
  const query = { ...parts.values, offer, type };
  return (
    <section className="panel stack">
      <header className="row wrap">
        <h2 className="grow">New link</h2>
        <GuideLink href="/docs/links">About links</GuideLink>
      </header>
      <div className="field-grid">
        <RecordChoice label="Offer" load={offerChoices} value={offer} onChange={setOffer} />
        {isStaff && (
          <RecordChoice
            label="Partner"
            load={affiliateChoices}
            value={partner}
            onChange={setPartner}
          />
        )}
        <ChoiceField
          label="Kind"
          value={type}
          choices={[
            [REDIRECT, "Redirect"],
            ["transparent", "Without redirect, with the landing page's script"],
          ]}
          onChange={setType}
        />
      </div>
      {offer === "" || (isStaff && partner === "") ? (
        <p className="muted">
          {isStaff
            ? "Choose an offer and a partner to see the link."
            : "Choose an offer to see your link."}
        </p>
      ) : isStaff ? (
        <LinkOfPartner {...{ parts, onCheck }} query={{ ...query, affiliate: partner }} />
      ) : (
        <OwnLink {...{ parts, query, onCheck }} />
      )}
      <LinkPartFields parts={parts} hasPage={type === REDIRECT} />
    </section>
  );
}

type LinkProps = {
  readonly query: LinkQuery & { readonly type: string };
  readonly parts: LinkParts;
  readonly onCheck: OnCheck;
};

/** The link that the staff makes for a partner. */
function LinkOfPartner(props: LinkProps): ReactElement {
  const { offer, affiliate = "", type } = props.query;
  const standard = useTrackingLink({ offer, affiliate, type });
  return <OnDomain {...props} domain={useAnyLinkHost(standard.data?.host ?? "")} />;
}

/** The link that a partner makes for itself. */
function OwnLink(props: LinkProps): ReactElement {
  return <OnDomain {...props} domain={useLinkHost(props.query.offer)} />;
}

/** The choice of the domain stays while another link is made. */
function OnDomain({
  query,
  parts,
  onCheck,
  domain,
}: LinkProps & { readonly domain: LinkHost }): ReactElement {
  return (
    <>
      <MadeLink
        query={{ ...query, host: domain.host }}
        page={query.type === REDIRECT ? pageOf(parts) : ""}
        onCheck={onCheck}
      />
      <LinkHostField link={domain} />
    </>
  );
}
