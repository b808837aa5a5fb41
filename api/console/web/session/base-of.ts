import type { OwnMembership } from "../member/use-session.ts";

/** `/w/<slug>`, with the account for partners and advertisers, because a person may have several. */
export function baseOf({ workspace, affiliate, advertiser }: OwnMembership): string {
  const account =
    affiliate === null
      ? advertiser === null
        ? ""
        : `/advertiser/${advertiser.id}`
      : `/partner/${encodeURIComponent(affiliate.code)}`;
  return `/w/${workspace.slug}${account}`;
}
