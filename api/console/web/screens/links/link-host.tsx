import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import type { Choice } from "../../client/choices.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { ChoiceField } from "../../parts/choice-field.tsx";
import { keepOwnHost, ownHost } from "./own-host.ts";

/** The domains that may be chosen for a link, and the chosen one. Empty is the domain that the link has of itself. */
export type LinkHost = {
  readonly host: string;
  readonly choices: readonly Choice[];
  readonly choose: (host: string) => void;
};

/** The domains that the API offers a partner for its link to an offer, by id or code. The choice is kept for all offers. */
export function useLinkHost(offer: string | number): LinkHost {
  const membership = useMembership();
  const { api, membershipId } = membership;
  const [kept, keep] = useState(() => ownHost(membershipId));
  const params = { path: { id: String(offer) } };
  const hosts = useRecord(membership, {
    name: "link-hosts",
    id: offer,
    load: async (signal) =>
      (await read(api.GET("/offers/{id}/link-hosts", { params, signal }))).data,
  });
  return {
    ...linkHost({
      own: hosts.data?.find((one) => one.is_default)?.host ?? "",
      hosts: hosts.data?.map(({ host }) => host) ?? [],
      chosen: kept,
    }),
    choose: (host) => {
      keep(host);
      keepOwnHost(membershipId, host);
    },
  };
}

const HOSTS_MAX = 200;

/** All active domains, which the staff may choose for any link. The choice is not kept, because the next link is another partner's. */
export function useAnyLinkHost(own: string): LinkHost {
  const membership = useMembership();
  const { api } = membership;
  const [chosen, choose] = useState("");
  const query = { status: "active", limit: HOSTS_MAX } as const;
  const domains = useRecord(membership, {
    name: "domains",
    id: "active",
    load: async (signal) =>
      (await read(api.GET("/tracking-domains", { params: { query }, signal }))).data,
  });
  const hosts = domains.data?.map(({ host }) => host).toSorted() ?? [];
  return { ...linkHost({ own, hosts, chosen }), choose };
}

function linkHost({
  own,
  hosts,
  chosen,
}: {
  readonly own: string;
  readonly hosts: readonly string[];
  readonly chosen: string;
}): Omit<LinkHost, "choose"> {
  const others = hosts.filter((host) => host !== own);
  return {
    // What another offer allows, or was switched off since, does not count here.
    host: others.includes(chosen) ? chosen : "",
    choices: [["", `${own} (standard)`], ...others.map((host) => [host, host] as const)],
  };
}

/** Nothing where there is one domain. */
export function LinkHostField({ link }: { readonly link: LinkHost }): ReactElement | null {
  const { host, choices, choose } = link;
  if (choices.length < 2) return null;
  return (
    <div className="field-grid">
      <ChoiceField label="Domain" value={host} choices={choices} onChange={choose} />
    </div>
  );
}
