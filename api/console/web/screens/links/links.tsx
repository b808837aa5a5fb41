import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { affiliateChoices, offerChoices } from "../../client/choices.ts";
import { faultWords } from "../../client/fault-words.ts";
import { fromAddress } from "../../client/lists.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { ChoiceField } from "../../parts/choice-field.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { QrCode } from "../../parts/qr-code.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { RecordChoice } from "../../records/record-choice.tsx";
import { type LinkHost, LinkHostField, useAnyLinkHost, useLinkHost } from "./link-host.tsx";

const SUB_IDS = ["sub1", "sub2", "sub3", "source_id"] as const;
const NAMES: Readonly<Record<(typeof SUB_IDS)[number], string>> = {
  sub1: "Sub 1",
  sub2: "Sub 2",
  sub3: "Sub 3",
  source_id: "Source",
};

/** Makes the link of a partner to an offer. */
export function Links(): ReactElement {
  const membership = useMembership();
  const [offer, setOffer] = useState("");
  const [type, setType] = useState("affiliate");
  const [partner, setPartner] = useState("");
  const [subs, setSubs] = useState<Readonly<Record<string, string>>>({});
  const isStaff = membership.role !== "partner";
  return (
    <>
      <h1>Links</h1>
      <section className="panel stack">
        <div className="columns">
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
              ["affiliate", "Redirect"],
              ["transparent", "Without redirect, with the landing page's script"],
            ]}
            onChange={setType}
          />
          {SUB_IDS.map((name) => (
            <TextField
              key={name}
              label={NAMES[name]}
              value={subs[name] ?? ""}
              onChange={(value) => setSubs({ ...subs, [name]: value })}
            />
          ))}
        </div>
        {offer !== "" && !isStaff && <OwnLink query={{ ...subsOf(subs), offer, type }} />}
        {offer !== "" && isStaff && partner !== "" && (
          <LinkOfPartner query={{ ...subsOf(subs), offer, type, affiliate: partner }} />
        )}
      </section>
    </>
  );
}

function subsOf(subs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(subs).filter(([, value]) => value !== ""));
}

type LinkQuery = Readonly<Record<string, string>> & { readonly offer: string };

/** The link that the staff makes for a partner. */
function LinkOfPartner({ query }: { readonly query: LinkQuery }): ReactElement {
  const standard = useLink(query);
  const domain = useAnyLinkHost(standard.data?.host ?? "");
  return <Made query={query} domain={domain} />;
}

/** The link that a partner makes for itself. */
function OwnLink({ query }: { readonly query: LinkQuery }): ReactElement {
  return <Made query={query} domain={useLinkHost(query.offer)} />;
}

type Link = {
  readonly url: string;
  readonly host: string;
  readonly warnings: readonly string[];
};

function useLink(query: LinkQuery): UseQueryResult<Link> {
  const membership = useMembership();
  const { api } = membership;
  const { offer, ...more } = query;
  return useRecord<Link>(membership, {
    name: "tracking-link",
    id: JSON.stringify(query),
    load: async (signal) =>
      (
        await read(
          api.GET("/tracking-link", { params: { query: { ...fromAddress(more), offer } }, signal }),
        )
      ).data,
  });
}

/** The choice of the domain stays while another link is made. */
function Made({
  query,
  domain,
}: {
  readonly query: LinkQuery;
  readonly domain: LinkHost;
}): ReactElement {
  const link = useLink(domain.host === "" ? query : { ...query, host: domain.host });
  return (
    <div className="stack">
      <LinkHostField link={domain} />
      {link.isError && <ProblemNotice error={link.error} onRetry={() => void link.refetch()} />}
      {link.data !== undefined && <Shown {...link.data} />}
    </div>
  );
}

function Shown({ url, warnings }: Link): ReactElement {
  return (
    <div className="stack tight">
      <strong>The link</strong>
      <div className="row wrap">
        <code className="grow break">{url}</code>
        <CopyButton label="Copy the link" text={url} />
      </div>
      {warnings.map((warning) => (
        <p key={warning} className="notice warn">
          {faultWords(warning)}
        </p>
      ))}
      <QrCode text={url} label="QR code of the link" />
    </div>
  );
}
