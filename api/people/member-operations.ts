import { z } from "zod";
import { violatedConstraint } from "../../schemas/postgres/errors.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { showTo } from "../access/visibility.ts";
import { lockWorkspace } from "../catalog/workspace/workspace.ts";
import { deletedRecord, oneOf, recordId, shownTime } from "../fields/body-fields.ts";
import { openPage } from "../http/page.ts";
import { presentFields } from "../http/patch.ts";
import { pathId } from "../http/path-fields.ts";
import { pageParams } from "../http/query-fields.ts";
import { ApiError, conflict, notFound } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { ROLES } from "../operation/permissions.ts";
import { isStaff } from "../operation/principal.ts";
import { ADMINS_WRITE, MEMBERS, MEMBERS_WRITE } from "./access-of-people.ts";
import { grantFaults, refuseGrantBeyond } from "./grant-faults.ts";
import { revokeInvitationsFor } from "./invitations.ts";
import { mailed, mintTokens, resetMail } from "./link-mails.ts";
import { LINK_HOURS, linkTo, revokeLinksBy } from "./links.ts";
import {
  deleteMembership,
  findMember,
  hasOtherAdmin,
  listMembers as listRows,
  type MemberChange,
  type MemberRow,
  mayReset,
  updateMembership,
} from "./members.ts";
import { lockPeople } from "./people.ts";
import type { MemberContext } from "./people-context.ts";
import { grantedAccount, ShownMember } from "./people-fields.ts";
import { memberOperation } from "./people-operation.ts";
import { insertResetLink } from "./reset-links.ts";
import { holdSession } from "./ways-in.ts";

const HOUR_MS = 3_600_000;
const MemberPath = z.object({ id: pathId });

export const listMembers: Operation = memberOperation({
  name: "listMembers",
  method: "GET",
  path: "/members",
  tag: "People",
  summary: "List members",
  description: "People of the workspace, newest first. People of an account see their own account.",
  access: MEMBERS,
  input: { query: z.object(pageParams) },
  output: z.object({ data: z.array(ShownMember), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const { db, principal } = context;
    const page = openPage(context, "listMembers", query);
    const rows = await listRows(db, principal, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(principal.role, "member", row),
      }),
    };
  },
});

export const updateMember: Operation = memberOperation({
  name: "updateMember",
  method: "PATCH",
  path: "/members/{id}",
  tag: "People",
  summary: "Change a member",
  description:
    "Role, account, permissions or status. It counts within a second, and ends the open invitations of the person to this workspace.",
  access: ADMINS_WRITE,
  input: {
    path: MemberPath,
    body: z.strictObject({
      role: oneOf(...ROLES).optional(),
      ...grantedAccount,
      user_id: recordId.nullable().optional(),
      status: oneOf("active", "inactive").optional(),
    }),
  },
  output: z.object({ data: ShownMember }),
  status: 200,
  failures: ["conflict"],
  findResource: memberOfPath,
  findFaults: async (context, { body, resource }) =>
    await grantFaults(context, { ...changeOf(resource, {}), ...body }),
  run: async (context, { body, resource }) => {
    const { db, principal, workspace } = context;
    const row = await inTransaction(db, async (tx) => {
      await lockWorkspace(tx, workspace.id);
      const before = present(await findMember(tx, principal, resource.id));
      const change = changeOf(before, presentFields(body));
      if (!isFullAdmin(change)) await refuseWithoutAdmin(context, tx, before);
      await updateMembership(tx, before.id, change).catch((error: unknown) => {
        if (violatedConstraint(error) === "") throw error;
        throw conflict("role", "this person is a member with this account already");
      });
      if (!isFullAdmin(change)) await revokeLinksBy(tx, before.person_id, workspace.id);
      if (isOtherGrant(before, change)) await revokeInvitationsFor(tx, principal, before.email);
      return present(await findMember(tx, principal, before.id));
    });
    return { body: { data: showTo(principal.role, "member", row) } };
  },
});

/** Other roles than staff have no list of permissions, and no account of another role. */
function changeOf(before: MemberRow, body: Partial<MemberChange>): MemberChange {
  const { role, affiliate_id, advertiser_id, user_id, permissions, status } = {
    ...before,
    ...body,
  };
  return {
    role,
    affiliate_id,
    advertiser_id,
    user_id,
    permissions: isStaff(role) ? permissions : null,
    status,
  };
}

function isFullAdmin({ role, permissions, status }: MemberChange): boolean {
  return role === "admin" && permissions === null && status === "active";
}

/** Whether the change is more than another manager. An earlier invitation could undo such a change. */
function isOtherGrant(before: MemberRow, change: MemberChange): boolean {
  const grantIn = ({ role, affiliate_id, advertiser_id, permissions, status }: MemberChange) =>
    JSON.stringify([role, affiliate_id, advertiser_id, permissions, status]);
  return grantIn(before) !== grantIn(change);
}

/** A workspace always keeps somebody who can let others in. @throws {ApiError} `conflict` */
async function refuseWithoutAdmin(
  { workspace }: MemberContext,
  tx: MemberContext["db"] | Parameters<typeof hasOtherAdmin>[0],
  before: MemberRow,
): Promise<void> {
  if (!isFullAdmin(before) || (await hasOtherAdmin(tx, workspace.id, before.id))) return;
  throw conflict("role", "this is the last admin of the workspace: make another one first");
}

export const removeMember: Operation = memberOperation({
  name: "removeMember",
  method: "DELETE",
  path: "/members/{id}",
  tag: "People",
  summary: "Remove a member",
  description:
    "It counts within a second, and ends the open invitations of the person: to the workspace, or to the account whose people the caller belongs to.",
  access: MEMBERS_WRITE,
  input: { path: MemberPath },
  output: z.object({ data: deletedRecord }),
  status: 200,
  failures: ["conflict", "forbidden"],
  findResource: memberOfPath,
  run: async (context, { resource }) => {
    const { db, principal, workspace } = context;
    refuseGrantBeyond(principal, resource);
    await inTransaction(db, async (tx) => {
      await lockWorkspace(tx, workspace.id);
      const before = present(await findMember(tx, principal, resource.id));
      await refuseWithoutAdmin(context, tx, before);
      await deleteMembership(tx, before.id);
      await revokeLinksBy(tx, before.person_id, workspace.id);
      await revokeInvitationsFor(tx, principal, before.email);
    });
    return { body: { data: { id: resource.id, deleted: true } } };
  },
});

export const makeResetLink: Operation = memberOperation({
  name: "makeResetLink",
  method: "POST",
  path: "/members/{id}/reset-link",
  tag: "People",
  summary: "Create a reset link for a member",
  description:
    "The member sets a new password by it. It is valid for an hour, and ends with the rights of its maker and with every change of the member's. If a mail is sent, it has another link, which also proves the e-mail; the link of this answer does not. The caller must administer all workspaces of the person. Otherwise ask the operator: `tracker person reset-link`.",
  access: ADMINS_WRITE,
  input: { path: MemberPath },
  output: z.strictObject({
    data: z
      .strictObject({
        link: z.string().meta({ description: "Works once. Only this answer contains it" }),
        expires_at: shownTime,
        mailed: z.boolean().nullable().meta({
          description: "Whether the mail server has taken the link. Null without a mail server",
        }),
      })
      .meta({ id: "ResetLink" }),
  }),
  status: 200,
  findResource: memberOfPath,
  run: async (context, { resource }) => {
    const { db, signedIn, settings, nowMs, people, log } = context;
    const { person_id: personId } = resource;
    const { id: madeBy } = signedIn.person;
    const tokens = mintTokens(people.parts.mailer);
    const { email } = await inTransaction(db, async (tx) => {
      await lockPeople(tx, { ids: [madeBy, personId] });
      await holdSession(tx, signedIn);
      if (!(await mayReset(tx, madeBy, personId)))
        throw new ApiError(
          "forbidden",
          "this person has rights that you do not have: the operator resets the password",
        );
      return (await insertResetLink(tx, personId, { tokens, madeBy })).person;
    });
    const expiresAt = new Date(nowMs + LINK_HOURS.reset * HOUR_MS).toISOString();
    const isMailed = await mailed(people.parts.mailer, log, tokens.mailed, (token) =>
      resetMail({ email, link: linkTo(settings.apiUrl, token) }),
    );
    const link = linkTo(settings.apiUrl, tokens.shown);
    return { body: { data: { link, expires_at: expiresAt, mailed: isMailed } } };
  },
});

async function memberOfPath(
  { db, principal }: MemberContext,
  { id }: z.infer<typeof MemberPath>,
): Promise<MemberRow> {
  return present(await findMember(db, principal, id));
}

function present(row: MemberRow | undefined): MemberRow {
  if (row === undefined) throw notFound("member");
  return row;
}
