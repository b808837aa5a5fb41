import { type ReactElement, useEffect } from "react";
import { Redirect, useLocation } from "wouter";
import { useApi } from "../client/use-api.ts";
import { chooseFormat } from "../format/own-format.ts";
import { later } from "../later.tsx";
import { type Membership, MembershipContext } from "../member/membership.ts";
import type { OwnMembership, Session } from "../member/use-session.ts";
import { baseOf } from "./base-of.ts";
import { Interrupted } from "./interrupted.tsx";
import { lastPlace, rememberPlace } from "./last-place.ts";
import { SinglePanel } from "./single-panel.tsx";

// Each role is a chunk of its own: the browser of a partner never loads what staff use.
const Staff = later(async () => (await import("../staff.tsx")).Staff);
const Partner = later(async () => (await import("../partner.tsx")).Partner);
const Advertiser = later(async () => (await import("../advertiser.tsx")).Advertiser);

const PLACE = /^\/w\/([^/]+)(?:\/(partner|advertiser)\/([^/]+))?(?:\/|$)/;

/** The screens of a membership: the address names it, else this browser showed it last, else it is the first of the person. */
export function MembershipScreens({ session }: { readonly session: Session }): ReactElement {
  const [path] = useLocation();
  const chosen = session.memberships.find((one) => isNamedBy(path, one));
  const [first] = session.memberships;
  if (chosen !== undefined) return <Chosen key={chosen.id} session={session} membership={chosen} />;
  if (first === undefined) {
    return (
      <SinglePanel title="No workspace">
        <p>You are signed in, but belong to no active workspace. Ask an admin to invite you.</p>
      </SinglePanel>
    );
  }
  if (PLACE.test(path)) {
    return (
      <SinglePanel title="Page not found, or you don't have access">
        <p>The address names a workspace that you do not belong to.</p>
        <a className="button" href={`/console${baseOf(first)}/`}>
          Go to {first.workspace.name}
        </a>
      </SinglePanel>
    );
  }
  const last = lastPlace();
  const again = session.memberships.find((one) => baseOf(one) === last) ?? first;
  return <Redirect to={`${baseOf(again)}/`} replace />;
}

function Chosen({
  session,
  membership: own,
}: {
  readonly session: Session;
  readonly membership: OwnMembership;
}): ReactElement {
  const api = useApi(own.id);
  const base = baseOf(own);
  // Before the screens are drawn, which read it while they write dates and numbers.
  chooseFormat(session.person.preferences);
  useEffect(() => rememberPlace(base), [base]);
  const membership: Membership = {
    api,
    membershipId: own.id,
    role: own.role,
    base,
    workspaceName: own.workspace.brand_name || own.workspace.name,
    accountName: own.affiliate?.name ?? own.advertiser?.name,
    zone: own.workspace.timezone,
    currency: own.workspace.currency,
    permissions: own.permissions,
    session,
  };
  const Screens = own.role === "partner" ? Partner : own.role === "advertiser" ? Advertiser : Staff;
  return (
    <MembershipContext value={membership}>
      <Screens />
      <Interrupted person={session.person} />
    </MembershipContext>
  );
}

function isNamedBy(path: string, membership: OwnMembership): boolean {
  const base = baseOf(membership);
  if (path !== base && !path.startsWith(`${base}/`)) return false;
  // Addresses of accounts begin with the address of the staff.
  return (
    (PLACE.exec(path)?.[2] === undefined) ===
    (membership.affiliate === null && membership.advertiser === null)
  );
}
