import type { ReactElement } from "react";
import type { components } from "../../../../.build/console/openapi.ts";
import { faultWords } from "../client/fault-words.ts";
import { Problem } from "../client/problem.ts";
import { ROLE_WORDS } from "../format/role.ts";
import { Facts } from "../parts/facts.tsx";

export type Link = Pick<
  components["schemas"]["OneTimeLink"],
  "kind" | "email" | "workspace" | "account" | "role" | "invited_by"
>;

/** Who has signed in here. */
export type Own = { readonly email: string; readonly email_proved: boolean };

const ASK_AGAIN = "Whoever gave you the link can make another one, and so can an admin.";

/** Checking the address does not help if the link is gone. */
export function adviceFor(error: unknown): string | undefined {
  return error instanceof Problem && error.code === "not_found" ? ASK_AGAIN : undefined;
}

/** Faults of the fields, in words. */
export function faultsIn(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof Problem)) return {};
  return Object.fromEntries(
    Object.entries(error.fields).map(([name, fault]) => [name, faultWords(fault)]),
  );
}

/** What the link is for, so that a new person knows the e-mail to sign in with later. */
export function LinkFacts({
  link: { kind, email, workspace, account, role, invited_by: inviter },
}: {
  readonly link: Link;
}): ReactElement {
  return (
    <Facts
      facts={[
        ["Workspace", workspace],
        ["Account", account],
        ["Your role", kind === "reset" || role === null ? "" : ROLE_WORDS[role]],
        ["Your e-mail", email],
        ["Invited by", kind === "invitation" ? inviter : ""],
      ]}
    />
  );
}

type Named = { readonly name: string };
type Granted = {
  readonly id: number;
  readonly role: string;
  readonly workspace: Named;
  readonly affiliate: Named | null;
  readonly advertiser: Named | null;
};

/** The membership that a link has given: the newest one that fits. */
export function membershipOf<One extends Granted>(
  { workspace, account, role }: Link,
  memberships: readonly One[],
): One | undefined {
  return memberships
    .filter(
      (one) =>
        one.workspace.name === workspace &&
        one.role === role &&
        (account === null || (one.affiliate ?? one.advertiser)?.name === account),
    )
    .toSorted((a, b) => b.id - a.id)[0];
}
