import type { Queryable } from "../../schemas/postgres/connect.ts";
import { refusalOfAccount } from "../access/authorize.ts";
import { findMembership } from "../access/memberships.ts";
import { lockWorkspace } from "../catalog/workspace/workspace.ts";
import { ApiError, notFound } from "../operation/errors.ts";
import { mayGrant } from "./grant-faults.ts";
import { listOpenInvitationsFor, useInvitation } from "./invitations.ts";
import { type FoundLink, findLink, type LinkRow, RIGHTS_OF_PERSON, useLink } from "./links.ts";
import { listMembershipIds, lockMembershipsOf, mayReset } from "./members.ts";
import { lockPeople } from "./people.ts";
import { isSameEmail } from "./same-email.ts";

/** The link of a token that nobody has used. The caller judges it. @throws {ApiError} `not_found`, which says what has become of it. */
export async function getLiveLink(db: Queryable, token: string): Promise<FoundLink> {
  const link = await findLink(db, token);
  if (link === undefined) throw notFound("link: copy the whole of it, or ask for a new one");
  if (link.used_at !== null) throw gone("it was used, and works once");
  if (link.revoked_at !== null) throw gone("it was withdrawn, or somebody's rights have changed");
  if (link.is_over) throw gone("it is too old");
  return link;
}

/** Uses up a link that is judged. @throws {ApiError} `not_found` if somebody else was faster. */
export async function spendLink(tx: Queryable, token: string): Promise<void> {
  if (!(await useLink(tx, token))) throw gone("it was used just now, and works once");
}

function gone(why: string): ApiError {
  return new ApiError("not_found", `this link has ended, because ${why}: ask for a new one`);
}

/**
 * Refuses a link that has outlived the rights it was made with. Everybody's rights that this reads stay locked until `tx` ends, so a change
 * of them counts either before the link or after it.
 * @throws {ApiError} `not_found`
 */
export async function refuseEndedLink(tx: Queryable, link: LinkRow): Promise<void> {
  await lockRightsBehind(tx, link);
  await refuseEndedLinkNow(tx, link);
}

/** Refuses such a link without locks, for whoever only looks. @throws {ApiError} `not_found` */
export async function refuseEndedLinkNow(db: Queryable, link: LinkRow): Promise<void> {
  if (await stands(db, link)) return;
  throw gone("somebody's rights have changed since it was made");
}

/** Uses up the open invitations of an e-mail that stand. If several sign in at once, each invitation goes to one. */
export async function useInvitationsFor(tx: Queryable, email: string): Promise<LinkRow[]> {
  const used: LinkRow[] = [];
  for (const link of await listOpenInvitationsFor(tx, email)) {
    if (!isSameEmail(link.email ?? "", email)) continue;
    await lockRightsBehind(tx, link);
    if ((await stands(tx, link)) && (await useInvitation(tx, link))) used.push(link);
  }
  return used;
}

/** The workspace comes first, as it does where members change. */
async function lockRightsBehind(tx: Queryable, link: LinkRow): Promise<void> {
  if (link.workspace_id !== null) await lockWorkspace(tx, link.workspace_id);
  const ids = [link.made_by, link.person_id];
  await lockMembershipsOf(tx, await lockPeople(tx, { ids, email: link.email }));
}

async function stands(db: Queryable, link: LinkRow): Promise<boolean> {
  const { kind, made_by: madeBy, person_id: personId } = link;
  if (kind === "reset") {
    if (personId === null || !(await isForSamePerson(db, link.id))) return false;
    return madeBy === null || (await mayReset(db, madeBy, personId));
  }
  return kind === "first_admin" || madeBy === null || (await mayStillInvite(db, link, madeBy));
}

/** Whether the person still has the e-mail and, for a link that somebody else made, the same rights. */
async function isForSamePerson(db: Queryable, id: number): Promise<boolean> {
  const { rows } = await db.query<{ is_same: boolean | null }>({
    name: "is-reset-for-same-person",
    text: `select lower(p.email) = lower(l.email) and (l.made_by is null or l.person_rights = ${RIGHTS_OF_PERSON}) as is_same
           from one_time_link l join person p on p.id = l.person_id where l.id = $1`,
    values: [id],
  });
  return rows[0]?.is_same === true;
}

async function mayStillInvite(db: Queryable, link: LinkRow, madeBy: number): Promise<boolean> {
  const { role, workspace_id: workspaceId, ...grant } = link;
  if (role === null || workspaceId === null) throw new Error("an invitation grants nothing");
  for (const membershipId of await listMembershipIds(db, madeBy, workspaceId)) {
    const held = await findMembership(db, { personId: madeBy, membershipId });
    if (held === undefined || refusalOfAccount(held) !== undefined) continue;
    if (mayGrant(held.principal, { ...grant, role })) return true;
  }
  return false;
}
