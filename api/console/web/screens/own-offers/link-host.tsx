import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import type { Choice } from "../../client/choices.ts";
import { useRecord } from "../../client/records.ts";
import { useMembership } from "../../member/membership.ts";
import { ChoiceField } from "../../parts/choice-field.tsx";
import { keepOwnHost, ownHost } from "./own-host.ts";

/** The domains that the partner may choose for its link, and the chosen one. Empty is the domain that the link has of itself. */
export type LinkHost = {
  readonly host: string;
  readonly choices: readonly Choice[];
  readonly choose: (host: string) => void;
};

export function useLinkHost(offerId: number): LinkHost {
  const membership = useMembership();
  const { api, membershipId } = membership;
  const [kept, keep] = useState(() => ownHost(membershipId));
  const params = { path: { id: String(offerId) } };
  const hosts = useRecord(membership, {
    name: "link-hosts",
    id: offerId,
    load: async (signal) =>
      (await read(api.GET("/offers/{id}/link-hosts", { params, signal }))).data,
  });
  const others = hosts.data?.filter((one) => !one.is_default).map(({ host }) => host) ?? [];
  const own = hosts.data?.find((one) => one.is_default)?.host ?? "";
  return {
    // What another offer allows, or was switched off since, does not count here.
    host: others.includes(kept) ? kept : "",
    choices: [["", `${own} (standard)`], ...others.map((host) => [host, host] as const)],
    choose: (host) => {
      keep(host);
      keepOwnHost(membershipId, host);
    },
  };
}

/** Nothing where there is one domain. */
export function LinkHostField({ link }: { readonly link: LinkHost }): ReactElement | null {
  const { host, choices, choose } = link;
  if (choices.length < 2) return null;
  return <ChoiceField label="Domain" value={host} choices={choices} onChange={choose} />;
}
