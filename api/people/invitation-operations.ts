import { z } from "zod";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { showTo } from "../access/visibility.ts";
import { deletedRecord, oneOf } from "../fields/body-fields.ts";
import { openPage } from "../http/page.ts";
import { pathId } from "../http/path-fields.ts";
import { pageParams } from "../http/query-fields.ts";
import { ApiError, notFound } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { ROLES } from "../operation/permissions.ts";
import { isStaff } from "../operation/principal.ts";
import { MEMBERS, MEMBERS_WRITE } from "./access-of-people.ts";
import { grantFaults, refuseGrantBeyond } from "./grant-faults.ts";
import {
  findInvitation,
  hasTooManyInvitations,
  listInvitations as listRows,
  renewInvitation as renewRow,
  revokeInvitation as revokeRow,
} from "./invitations.ts";
import { invitationMail, type MadeTokens, mailed, mintTokens } from "./link-mails.ts";
import { insertLink, type LinkRow, linkTo } from "./links.ts";
import type { MemberContext } from "./people-context.ts";
import { grantedAccount, personEmail, ShownInvitation } from "./people-fields.ts";
import { memberOperation } from "./people-operation.ts";
import { holdSession } from "./ways-in.ts";

const OPEN_MAX = 1_000;
const InvitationPath = z.object({ id: pathId });

export const listInvitations: Operation = memberOperation({
  name: "listInvitations",
  method: "GET",
  path: "/invitations",
  tag: "People",
  summary: "List invitations",
  description: "Newest first, also used and revoked ones.",
  access: MEMBERS,
  input: { query: z.object(pageParams) },
  output: z.object({ data: z.array(ShownInvitation), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const { db, principal } = context;
    const page = openPage(context, "listInvitations", query);
    const rows = await listRows(db, principal, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(principal.role, "invitation", row),
      }),
    };
  },
});

export const createInvitation: Operation = memberOperation({
  name: "createInvitation",
  method: "POST",
  path: "/invitations",
  tag: "People",
  summary: "Invite a person",
  description:
    "Only this answer contains the link, which works once within 7 days and ends when its maker may no longer grant this. If a mail is sent, it has another link, which also proves the e-mail; the link of this answer does not. People of a partner or advertiser invite for their own account. Nobody can grant a right that they do not have.",
  access: MEMBERS_WRITE,
  input: {
    body: z.strictObject({ email: personEmail, role: oneOf(...ROLES), ...grantedAccount }),
  },
  output: z.object({ data: ShownInvitation }),
  status: 201,
  failures: ["conflict", "forbidden"],
  findFaults: async (context, { body }) => await grantFaults(context, body),
  run: async (context, { body }) => {
    const { db, principal, workspace, signedIn, people } = context;
    refuseGrantBeyond(principal, body);
    if (await hasTooManyInvitations(db, workspace.id, OPEN_MAX))
      throw new ApiError("conflict", `a workspace may have ${OPEN_MAX} open invitations`);
    const tokens = mintTokens(people.parts.mailer);
    const id = await inTransaction(db, async (tx) => {
      await holdSession(tx, signedIn);
      return await insertLink(tx, tokens, {
        kind: "invitation",
        workspaceId: workspace.id,
        email: body.email,
        role: body.role,
        affiliateId: body.affiliate_id,
        advertiserId: body.advertiser_id,
        permissions: isStaff(body.role) ? body.permissions : null,
        madeBy: signedIn.person.id,
      });
    });
    return { body: { data: await shownWithLink(context, id, tokens) } };
  },
});

export const renewInvitation: Operation = memberOperation({
  name: "renewInvitation",
  method: "POST",
  path: "/invitations/{id}/renew",
  tag: "People",
  summary: "Renew an invitation",
  description: "Another link, valid for 7 days. The earlier one ends.",
  access: MEMBERS_WRITE,
  input: { path: InvitationPath },
  output: z.object({ data: ShownInvitation }),
  status: 200,
  failures: ["conflict", "forbidden"],
  findResource: invitationOfPath,
  run: async (context, { resource }) => {
    const { db, signedIn, people } = context;
    refuseRow(context, resource);
    const tokens = mintTokens(people.parts.mailer);
    await inTransaction(db, async (tx) => {
      await holdSession(tx, signedIn);
      const renewed = { id: resource.id, tokens, madeBy: signedIn.person.id };
      if (!(await renewRow(tx, renewed))) throw usedAlready();
    });
    return { body: { data: await shownWithLink(context, resource.id, tokens) } };
  },
});

export const revokeInvitation: Operation = memberOperation({
  name: "revokeInvitation",
  method: "DELETE",
  path: "/invitations/{id}",
  tag: "People",
  summary: "Revoke an invitation",
  description: "It stays in the list, with `revoked_at`.",
  access: MEMBERS_WRITE,
  input: { path: InvitationPath },
  output: z.object({ data: deletedRecord }),
  status: 200,
  failures: ["conflict", "forbidden"],
  findResource: invitationOfPath,
  run: async (context, { resource }) => {
    refuseRow(context, resource);
    if (!(await revokeRow(context.db, resource.id))) throw usedAlready();
    return { body: { data: { id: resource.id, deleted: true } } };
  },
});

async function invitationOfPath(
  { db, principal }: MemberContext,
  { id }: z.infer<typeof InvitationPath>,
): Promise<LinkRow> {
  const found = await findInvitation(db, principal, id);
  if (found === undefined) throw notFound("invitation");
  return found;
}

/** Who may not grant it may not renew or revoke it. @throws {ApiError} `forbidden` */
function refuseRow({ principal }: MemberContext, { role, ...row }: LinkRow): void {
  if (role === null) throw new Error("an invitation has a role");
  refuseGrantBeyond(principal, { ...row, role });
}

function usedAlready(): ApiError {
  return new ApiError("conflict", "somebody has joined by this invitation");
}

async function shownWithLink(
  context: MemberContext,
  id: number,
  tokens: MadeTokens,
): Promise<Record<string, unknown>> {
  const { db, principal, settings, people, signedIn, log } = context;
  const row = await findInvitation(db, principal, id);
  const isMailed = await mailed(people.parts.mailer, log, tokens.mailed, (token) =>
    invitationMail({
      email: row?.email ?? "",
      workspace: row?.workspace_name ?? "",
      inviter: signedIn.person.name,
      link: linkTo(settings.apiUrl, token),
    }),
  );
  const link = linkTo(settings.apiUrl, tokens.shown);
  return showTo(principal.role, "invitation", { ...row, link, mailed: isMailed });
}
