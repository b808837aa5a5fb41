import type { ReactElement } from "react";
import { Link } from "wouter";
import { useMembership } from "../../member/membership.ts";

/** Where the partner's own terms, link keys and postbacks are listed. */
export function OwnTermsOf({ id }: { readonly id: number }): ReactElement {
  const { base } = useMembership();
  return (
    <section className="stack tight">
      <h3>More of this partner</h3>
      <ul className="plain-list">
        <li>
          <Link href={`${base}/rules?of=own-terms&affiliate_id=${id}`}>Own terms</Link>
        </li>
        <li>
          <Link href={`${base}/rules?of=link-keys&affiliate_id=${id}`}>Link keys</Link>
        </li>
        <li>
          <Link href={`${base}/conversions?preset=last30&affiliate_id=${id}`}>Conversions</Link>
        </li>
      </ul>
    </section>
  );
}
