import type { Queryable } from "../../schemas/postgres/connect.ts";
import { conflict } from "../errors.ts";
import type { LinkRow } from "./links.ts";
import { insertMembership } from "./members.ts";
import { hasAdmin, insertPerson } from "./people.ts";
import { listWorkspaceIds, lockInstallation } from "./workspaces-of-first-admin.ts";

/** Who signs in, and whether the second factor is missing. */
export type Signing = { readonly id: number; readonly state: "second_factor" | "full" };

/**
 * Makes the person whom a link invites, or the first admin, and grants what the link says. The caller has used the link up in `tx`.
 * @throws {ApiError} `conflict` if there is an admin already, or a person with the e-mail.
 */
export async function newPersonByLink(
  tx: Queryable,
  link: LinkRow,
  given: {
    readonly email: string;
    readonly name: string;
    /** Null for somebody whose identity provider proves who it is. */
    readonly passwordHash: string | null;
  },
): Promise<Signing> {
  const isFirst = link.kind === "first_admin";
  if (isFirst) {
    await lockInstallation(tx);
    if (await hasAdmin(tx))
      throw conflict("token", "there is an admin already: ask for an invitation");
  }
  const id = await insertPerson(tx, { ...given, isOperator: isFirst });
  if (id === undefined)
    throw conflict("email", "this e-mail has signed in before: sign in, then open the link again");
  if (isFirst) {
    const all = link.workspace_id === null ? await listWorkspaceIds(tx) : [link.workspace_id];
    for (const workspaceId of all)
      await insertMembership(tx, { personId: id, workspaceId, role: "admin" });
  } else {
    await joinByLink(tx, link, id);
  }
  return { id, state: "full" };
}

/** @throws {ApiError} `conflict` if the person is a member already. */
export async function joinByLink(tx: Queryable, link: LinkRow, personId: number): Promise<void> {
  const { workspace_id: workspaceId, role } = link;
  if (workspaceId === null || role === null) throw new Error("an invitation grants nothing");
  const id = await insertMembership(tx, {
    personId,
    workspaceId,
    role,
    affiliateId: link.affiliate_id,
    advertiserId: link.advertiser_id,
    permissions: link.permissions,
  });
  if (id === undefined) throw conflict("email", "this person is a member already");
}
