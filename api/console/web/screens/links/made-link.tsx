import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactElement, useDeferredValue } from "react";
import { read } from "../../client/api-client.ts";
import { faultWords } from "../../client/fault-words.ts";
import { fromAddress } from "../../client/lists.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { QrCode } from "../../parts/qr-code.tsx";
import { withDeepLink } from "./deep-link.ts";

/** Parameters of the API for a link. Empty ones are left out. */
export type LinkQuery = Readonly<Record<string, string>> & { readonly offer: string };

type AdPlatformFields = { readonly tracking_template: string; readonly final_url_suffix: string };
export type CheckedTemplate = { readonly template: string; readonly suffix: string };

type Link = {
  readonly url: string;
  readonly host: string;
  readonly warnings: readonly string[];
  readonly google_ads?: AdPlatformFields | undefined;
};

/** What a link has beside its offer. */
function givenIn({ offer: _offer, ...more }: LinkQuery): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(more).filter(([, value]) => value !== ""));
}

/** The link of the API for these parameters. */
export function useTrackingLink(query: LinkQuery): UseQueryResult<Link> {
  const membership = useMembership();
  const { api } = membership;
  const { offer } = query;
  const given = givenIn(query);
  return useRecord<Link>(membership, {
    name: "tracking-link",
    id: JSON.stringify({ offer, ...given }),
    load: async (signal) =>
      (
        await read(
          api.GET("/tracking-link", {
            params: { query: { ...fromAddress(given), offer } },
            signal,
          }),
        )
      ).data,
  });
}

/** A link as the API makes it, to copy, with its warnings and its QR code. */
export function MadeLink({
  query,
  page = "",
  known,
  onCheck,
}: {
  readonly query: LinkQuery;
  /** The page of the shop that the link leads to; empty for the offer's own. */
  readonly page?: string;
  /** The link of the offer alone, where it has been read already. */
  readonly known?: string | undefined;
  readonly onCheck?: ((template: CheckedTemplate) => void) | undefined;
}): ReactElement | null {
  // Each letter changes the link, but not each one must ask for it before the next is typed.
  const asked = useDeferredValue(query);
  const link = useTrackingLink(asked);
  if (link.isError) return <ProblemNotice error={link.error} onRetry={() => void link.refetch()} />;
  const isPlain = Object.keys(givenIn(asked)).length === 0;
  const made = link.data?.url ?? (isPlain ? known : undefined);
  if (made === undefined) return null;
  const url = withDeepLink(made, page);
  const platform = link.data?.google_ads;
  return (
    <div className="stack tight">
      {platform === undefined ? (
        <ToCopy text={url} label="Copy the link" />
      ) : (
        <Template platform={platform} onCheck={onCheck} />
      )}
      {(link.data?.warnings ?? []).map((warning) => (
        <p key={warning} className="notice warn">
          {faultWords(warning)}
        </p>
      ))}
      {platform === undefined && (
        <details>
          <summary>QR code</summary>
          <QrCode text={url} label="QR code of the link" />
        </details>
      )}
    </div>
  );
}

function ToCopy({ text, label }: { readonly text: string; readonly label: string }): ReactElement {
  return (
    <div className="row wrap">
      <code className="grow break">{text}</code>
      <CopyButton label={label} text={text} />
    </div>
  );
}

/** What goes into the two fields of an ad platform. */
function Template({
  platform: { tracking_template: template, final_url_suffix: suffix },
  onCheck,
}: {
  readonly platform: AdPlatformFields;
  readonly onCheck?: ((template: CheckedTemplate) => void) | undefined;
}): ReactElement {
  return (
    <>
      <strong>Tracking template</strong>
      <ToCopy text={template} label="Copy the template" />
      <strong>Final URL suffix</strong>
      <ToCopy text={suffix} label="Copy the suffix" />
      {onCheck !== undefined && (
        <div className="row">
          <button type="button" className="button" onClick={() => onCheck({ template, suffix })}>
            Check this template
          </button>
        </div>
      )}
    </>
  );
}
