import { z } from "zod";
import { violatedConstraint } from "../../../schemas/postgres/errors.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { insertAuditEntry } from "../../access/audit-log.ts";
import { insertWorkspace } from "../../catalog/workspace/insert-workspace.ts";
import { lockWorkspace, updateWorkspace } from "../../catalog/workspace/workspace.ts";
import { currency, name, oneOf } from "../../fields/body-fields.ts";
import { timezone, WORKSPACE_SLUG } from "../../fields/catalog-fields.ts";
import { presentFields } from "../../http/patch.ts";
import { pathId } from "../../http/path-fields.ts";
import { conflict, notFound } from "../../operation/errors.ts";
import type { Operation } from "../../operation/operation.ts";
import { insertMembership } from "../../people/members.ts";
import type { PersonContext } from "../../people/people-context.ts";
import { personOperation } from "../../people/people-operation.ts";
import { OPERATORS, OPERATORS_WRITE, refuseOthers } from "./operators.ts";
import {
  findWorkspaceRow,
  listWorkspaceRows,
  ROWS_MAX,
  ShownWorkspaceRow,
  STATUSES,
  type WorkspaceListRow,
} from "./workspace-list.ts";

const refuse = async (context: PersonContext): Promise<void> =>
  await Promise.resolve(refuseOthers(context));

const listWorkspaces: Operation = personOperation({
  name: "listWorkspaces",
  method: "GET",
  path: "/workspaces",
  tag: "System",
  summary: "List workspaces",
  description: `Every workspace of the installation, at most ${ROWS_MAX}, by slug. For operators.`,
  access: OPERATORS,
  input: {},
  output: z.object({ data: z.array(ShownWorkspaceRow) }),
  status: 200,
  findResource: refuse,
  run: async ({ db }) => ({ body: { data: await listWorkspaceRows(db) } }),
});

const createWorkspace: Operation = personOperation({
  name: "createWorkspace",
  method: "POST",
  path: "/workspaces",
  tag: "System",
  summary: "Create a workspace",
  description:
    "With an admin key, which is shown only in this answer. The operator becomes its first admin. For operators.",
  access: OPERATORS_WRITE,
  input: {
    body: z.strictObject({
      name: name(),
      slug: z
        .string("expected a slug")
        .regex(WORKSPACE_SLUG, "expected 1 to 63 lower-case letters, digits and hyphens"),
      timezone: timezone.default("UTC"),
      currency: currency.default("USD"),
    }),
  },
  output: z.object({
    data: ShownWorkspaceRow.extend({
      admin_key: z.string().meta({ description: "Shown only once" }),
    }).meta({ id: "CreatedWorkspace" }),
  }),
  status: 201,
  failures: ["conflict"],
  findResource: refuse,
  run: async (context, { body }) => {
    const { db, settings, signedIn } = context;
    try {
      const { id, adminKey } = await inTransaction(db, async (tx) => {
        const made = await insertWorkspace(tx, { ...body, trackingUrl: settings.trackingUrl });
        const personId = signedIn.person.id;
        await insertMembership(tx, { personId, workspaceId: made.id, role: "admin" });
        await insertAuditEntry(tx, auditEntry(context, made.id, "rest POST /workspaces", 201));
        return made;
      });
      return { body: { data: { ...(await present(context, id)), admin_key: adminKey } } };
    } catch (error) {
      if (violatedConstraint(error) !== "workspace_slug_key") throw error;
      throw conflict("slug", "another workspace has this slug");
    }
  },
});

const changeWorkspace: Operation = personOperation({
  name: "changeWorkspace",
  method: "PATCH",
  path: "/workspaces/{id}",
  tag: "System",
  summary: "Rename a workspace, or switch it off or on",
  description:
    "An inactive workspace refuses its keys and people, and its links stop working. For operators.",
  access: OPERATORS_WRITE,
  input: {
    path: z.object({ id: pathId }),
    body: z.strictObject({
      name: name().optional(),
      status: oneOf(...STATUSES)
        .optional()
        .meta({ description: "An inactive workspace refuses its keys and people" }),
    }),
  },
  output: z.object({ data: ShownWorkspaceRow }),
  status: 200,
  findResource: async (context, { id }) => {
    refuseOthers(context);
    return await present(context, id);
  },
  run: async (context, { body, resource }) => {
    await inTransaction(context.db, async (tx) => {
      const current = await lockWorkspace(tx, resource.id);
      await updateWorkspace(tx, { ...current, ...presentFields(body) });
      const action = `rest PATCH /workspaces/${resource.id}`;
      await insertAuditEntry(tx, auditEntry(context, resource.id, action, 200));
    });
    return { body: { data: await present(context, resource.id) } };
  },
});

/** @throws {ApiError} `not_found` */
async function present({ db }: PersonContext, id: number): Promise<WorkspaceListRow> {
  const row = await findWorkspaceRow(db, id);
  if (row === undefined) throw notFound("workspace");
  return row;
}

/** In the log of the workspace itself, whose admins should see what the operator did. */
function auditEntry(
  { signedIn, clientIp, requestId }: PersonContext,
  workspaceId: number,
  action: string,
  status: number,
): Parameters<typeof insertAuditEntry>[1] {
  const { id, name: personName } = signedIn.person;
  return {
    principal: {
      actor: { kind: "person", id, name: personName, membershipId: 0 },
      workspace: { id: workspaceId },
    },
    action,
    ip: clientIp,
    status,
    requestId,
  };
}

export const systemOperations: readonly Operation[] = [
  listWorkspaces,
  createWorkspace,
  changeWorkspace,
];
