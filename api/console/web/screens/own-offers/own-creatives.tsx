import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { SafeLink } from "../../parts/safe-link.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { Offer } from "../offers/offer.ts";

type Creative = components["schemas"]["Creative"];

const HEIGHT = 120;
const KINDS = {
  image: "Image",
  html: "HTML",
  text: "Text",
  link: "Link",
  email: "E-mail",
} as const;

/** Banners and texts with the partner's own link. Images are not loaded, because a stranger's server would learn who looks. */
export function OwnCreatives({ offer: { id } }: { readonly offer: Offer }): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const creatives = useRecord(membership, {
    name: "creatives",
    id,
    load: async (signal) =>
      (
        await read(
          api.GET("/offers/{id}/creatives", { params: { path: { id: String(id) } }, signal }),
        )
      ).data,
  });
  return (
    <section className="panel stack">
      <h2>Creatives</h2>
      {creatives.isError && (
        <ProblemNotice error={creatives.error} onRetry={() => void creatives.refetch()} />
      )}
      {creatives.data === undefined && !creatives.isError && <Skeleton height={HEIGHT} />}
      {creatives.data?.length === 0 && <p className="muted">No creatives yet</p>}
      <ul className="plain-list">
        {(creatives.data ?? []).map((creative) => (
          <li key={creative.id}>
            <OneCreative creative={creative} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneCreative({ creative }: { readonly creative: Creative }): ReactElement {
  const { name, kind, url, width, height, html, body } = creative;
  const text = html ?? (body === "" ? undefined : body);
  return (
    <div className="row wrap">
      <div className="grow">
        <StrangerText text={name} />
        <div className="muted break">
          {KINDS[kind]}
          {width > 0 && `, ${width} × ${height}`} {url !== "" && <SafeLink href={url} />}
        </div>
      </div>
      {text !== undefined && <CopyButton label={`Copy ${name}`} text={text} />}
    </div>
  );
}
