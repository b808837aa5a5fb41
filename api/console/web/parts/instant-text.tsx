import type { ReactElement } from "react";
import { formatInstant } from "../format/time.ts";
import { useMembership } from "../member/membership.ts";

/** A time in the zone of the workspace, with UTC in the title. Nothing where there is none. */
export function InstantText({ iso }: { readonly iso: string | null }): ReactElement | null {
  const { zone } = useMembership();
  if (iso === null) return null;
  return (
    <time dateTime={iso} title={iso}>
      {formatInstant(iso, zone)}
    </time>
  );
}
