import type { ReactElement } from "react";
import { Link } from "wouter";
import type { LoadChoices } from "../client/choices.ts";
import { useMembership } from "../member/membership.ts";
import { RecordName } from "./record-name.tsx";

/** A record that another one names by its ID, as a link to its page. */
export function RecordLink({
  of,
  id,
  path,
}: {
  readonly of: LoadChoices;
  readonly id: number;
  /** Of the list, below the membership's address. */
  readonly path: string;
}): ReactElement {
  const { base } = useMembership();
  return (
    <Link href={`${base}${path}/${id}`}>
      <RecordName of={of} id={id} />
    </Link>
  );
}
