import { type ReactElement, useDeferredValue, useState } from "react";
import { read } from "../../client/api-client.ts";
import { faultWords } from "../../client/fault-words.ts";
import { fromAddress } from "../../client/lists.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { GuideLink } from "../../parts/guide-link.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { QrCode } from "../../parts/qr-code.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { LinkHostField, useLinkHost } from "../links/link-host.tsx";
import type { Offer } from "../offers/offer.ts";
import { deepLinkFault, withDeepLink } from "./deep-link.ts";

const SUBS = Array.from({ length: 10 }, (_, index) => `sub${index + 1}`);
const SUBS_SHOWN = 3;
const HINTS: Readonly<Record<string, string>> = {
  sub1: "Often the click ID of your own tracker",
  sub2: "Such as the campaign",
  sub3: "Such as the placement",
  source_id: "Which of your sites or channels sends the visitor",
};

type Values = Readonly<Record<string, string>>;

/** The partner's link, with what the partner wants to know about a click later. */
export function OwnLink({ offer }: { readonly offer: Offer }): ReactElement {
  const [values, setValues] = useState<Values>({});
  const [page, setPage] = useState("");
  const link = useLinkHost(offer.id);
  const fault = deepLinkFault(page);
  const field = (name: string, label: string): ReactElement => (
    <TextField
      key={name}
      label={label}
      hint={HINTS[name]}
      maxLength={255}
      value={values[name] ?? ""}
      onChange={(value) => setValues({ ...values, [name]: value })}
    />
  );
  const subs = SUBS.map((name, index) => field(name, `Sub ${index + 1}`));
  return (
    <section className="panel stack">
      <header className="row wrap">
        <h2 className="grow">Your tracking link</h2>
        <GuideLink href="/docs/sub-ids">About sub IDs</GuideLink>
      </header>
      <Made
        offer={offer}
        values={{ ...values, host: link.host }}
        page={fault === undefined ? page.trim() : ""}
      />
      <div className="field-grid">
        <LinkHostField link={link} />
        {subs.slice(0, SUBS_SHOWN)}
        {field("source_id", "Source")}
      </div>
      <details>
        <summary>Sub 4 to 10</summary>
        <div className="field-grid">{subs.slice(SUBS_SHOWN)}</div>
      </details>
      <TextField
        label="Landing page"
        value={page}
        fault={fault}
        hint="Optional: the address of another page of the shop. Links to hosts that the offer does not allow are refused."
        placeholder="https://"
        onChange={setPage}
      />
    </section>
  );
}

function Made({
  offer,
  values,
  page,
}: {
  readonly offer: Offer;
  readonly values: Values;
  readonly page: string;
}): ReactElement | null {
  const membership = useMembership();
  const { api } = membership;
  // Each letter changes the link, but not each one must ask for it before the next is typed.
  const query = useDeferredValue(given(values));
  const link = useRecord(membership, {
    name: "tracking-link",
    id: JSON.stringify({ offer: offer.id, ...query }),
    load: async (signal) =>
      (
        await read(
          api.GET("/tracking-link", {
            params: { query: { ...fromAddress(query), offer: String(offer.id) } },
            signal,
          }),
        )
      ).data,
  });
  if (link.isError) return <ProblemNotice error={link.error} onRetry={() => void link.refetch()} />;
  // The link without sub IDs on its own domain is known already.
  const made =
    link.data?.url ?? (Object.keys(query).length === 0 ? offer.tracking_link : undefined);
  if (made === undefined) return null;
  const url = withDeepLink(made, page);
  return (
    <div className="stack tight">
      <div className="row wrap">
        <code className="grow break">{url}</code>
        <CopyButton label="Copy the link" text={url} />
      </div>
      {(link.data?.warnings ?? []).map((warning) => (
        <p key={warning} className="notice warn">
          {faultWords(warning)}
        </p>
      ))}
      <details>
        <summary>QR code</summary>
        <QrCode text={url} label="QR code of the link" />
      </details>
    </div>
  );
}

function given(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}
