import type { Queryable } from "../../schemas/postgres/connect.ts";
import { ApiError, conflict } from "../operation/errors.ts";
import { type LinkRow, revokeLinks } from "./links.ts";
import { insertMembership, mayReset } from "./members.ts";
import {
  findPersonByEmail,
  hasAdmin,
  insertPerson,
  lockPeople,
  type PersonRow,
  renewAccount,
} from "./people.ts";
import { isSameEmail } from "./same-email.ts";
import { endWaysIn } from "./ways-in.ts";
import { listWorkspaceIds, lockInstallation } from "./workspaces-of-first-admin.ts";

/** Who signs in, and whether the second factor is missing. */
export type Signing = { readonly id: number; readonly state: "second_factor" | "full" };

/** Somebody who has come by a link. */
export type Joined = Signing & {
  /** Whether somebody had an account with this e-mail, which was replaced. */
  readonly isReplaced: boolean;
};

export type Newcomer = {
  readonly email: string;
  readonly name: string;
  /** Null for somebody whose identity provider proves who it is. */
  readonly passwordHash: string | null;
  /** Whether it is proved that the newcomer reads the mailbox. */
  readonly provesEmail: boolean;
};

/**
 * Makes the person whom a link invites, or the first admin with what he gets. An account with the e-mail that nobody has proved is replaced.
 * The caller has judged the link and used it up in `tx`, and grants what an invitation says.
 * @throws {ApiError} `conflict` if there is an admin already, or a person with the e-mail.
 */
export async function personByLink(tx: Queryable, link: LinkRow, given: Newcomer): Promise<Joined> {
  const isFirst = link.kind === "first_admin";
  if (isFirst) {
    await lockInstallation(tx);
    if (await hasAdmin(tx))
      throw conflict("token", "there is an admin already: ask for an invitation");
  }
  const { email, name, passwordHash, provesEmail: isProved } = given;
  const made = await insertPerson(tx, { email, name, passwordHash, isOperator: isFirst, isProved });
  if (isFirst) {
    if (made === undefined)
      throw conflict("email", "this e-mail has signed in before: give another");
    const all = link.workspace_id === null ? await listWorkspaceIds(tx) : [link.workspace_id];
    for (const workspaceId of all)
      await insertMembership(tx, { personId: made, workspaceId, role: "admin" });
    return { id: made, state: "full", isReplaced: false };
  }
  const id = made ?? (await replacePerson(tx, link, given));
  return { id, state: "full", isReplaced: made === undefined };
}

/**
 * An account with the e-mail exists and proves nothing: gives it to the user of the link alone. Somebody may have made it in advance.
 * @throws {ApiError} `conflict` if its owner has proved the e-mail, or the link may not replace it; `forbidden` if the person is not active.
 */
async function replacePerson(
  tx: Queryable,
  link: LinkRow,
  { email, name, passwordHash, provesEmail }: Newcomer,
): Promise<number> {
  await lockPeople(tx, { ids: [], email });
  const person = await findPersonByEmail(tx, email);
  if (person === undefined) throw new Error("the person has another e-mail since this moment");
  refuseInactive(person);
  if (person.email_proved || !isSameEmail(person.email, email))
    throw conflict("email", "this e-mail has signed in before: sign in, then open the link again");
  if (!provesEmail) await refuseUnproved(tx, link, person.id);
  await endWaysIn(tx, person.id, { keepsCodes: false });
  await renewAccount(tx, person.id, { name, passwordHash, isProved: provesEmail });
  return person.id;
}

/** @throws {ApiError} `forbidden` */
export function refuseInactive({ status }: Pick<PersonRow, "status">): void {
  if (status !== "active") throw new ApiError("forbidden", "this person is not active");
}

/**
 * An account that proves nothing gets in by a link that proves nothing only if the link's maker could reset the account anyway.
 * @throws {ApiError} `conflict`
 */
export async function refuseUnproved(
  tx: Queryable,
  { made_by: madeBy }: LinkRow,
  personId: number,
): Promise<void> {
  if (madeBy === null || !(await mayReset(tx, madeBy, personId))) throw unproved();
}

/** Whoever lets such an account in does not see who made it, and who has kept a way into it. */
export function unproved(): ApiError {
  return conflict(
    "email",
    "there is an account with this e-mail, which is not proved: open a link that was mailed to it, or ask the operator for one",
  );
}

/** @throws {ApiError} `conflict` if the person is a member already. */
export async function joinByLink(tx: Queryable, link: LinkRow, personId: number): Promise<void> {
  if (!(await grantByLink(tx, link, personId)))
    throw conflict("email", "this person is a member here already: sign in without the link");
}

/** False if the person is a member already. */
export async function grantByLink(
  tx: Queryable,
  link: LinkRow,
  personId: number,
): Promise<boolean> {
  const { workspace_id: workspaceId, role, permissions } = link;
  if (workspaceId === null || role === null) throw new Error("an invitation grants nothing");
  const id = await insertMembership(tx, {
    personId,
    workspaceId,
    role,
    affiliateId: link.affiliate_id,
    advertiserId: link.advertiser_id,
    permissions,
  });
  if (role === "admin" && permissions === null) await revokeLinks(tx, "first_admin");
  return id !== undefined;
}
