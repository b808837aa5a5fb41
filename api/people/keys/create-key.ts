import { z } from "zod";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { insertKey } from "../../access/insert-key.ts";
import { referenceFaults } from "../../access/references.ts";
import { showTo } from "../../access/visibility.ts";
import { type FieldFaults, type Operation, operation } from "../../operation/operation.ts";
import { permissionsOf, type Role } from "../../operation/permissions.ts";
import { isStaff } from "../../operation/principal.ts";
import { CreateKeyBody, ShownKey } from "./key-fields.ts";
import { findKeyBySecret, presentKey } from "./keys.ts";

export const createKey: Operation = operation({
  name: "createKey",
  method: "POST",
  path: "/keys",
  tag: "Management",
  summary: "Create an API key",
  description: "Only this answer contains its secret.",
  access: { ...unrestrictedAdminWrite, needsFresh: true },
  input: { body: CreateKeyBody },
  output: z.object({ data: ShownKey }),
  status: 201,
  keepsAnswer: "sealed",
  findFaults: async (context, { body }) => ({
    ...faultsOfRole(body, context.nowMs),
    ...(await referenceFaults(context, body, {
      affiliate_id: "affiliate",
      advertiser_id: "advertiser",
    })),
  }),
  run: async ({ db, workspace, principal }, { body }) => {
    const { secret, row } = await inTransaction(db, async (tx) => {
      const made = await insertKey(tx, {
        workspaceId: workspace.id,
        name: body.name ?? "",
        role: body.role,
        affiliateId: body.affiliate_id ?? undefined,
        advertiserId: body.advertiser_id ?? undefined,
        permissions: body.permissions,
        ipAllowlist: body.ip_allowlist,
        expiresAt: body.expires_at ?? undefined,
      });
      return { secret: made, row: await findKeyBySecret(tx, made) };
    });
    if (row === undefined) throw new Error("a key was inserted but cannot be read");
    return { body: { data: showTo(principal.role, "key", { ...presentKey(row), key: secret }) } };
  },
});

/** Faults that depend on the role: only partner and advertiser keys have an account, only staff keys a list of permissions (G09). */
function faultsOfRole(body: Readonly<Record<string, unknown>>, nowMs: number): FieldFaults {
  const faults: Record<string, string> = {};
  const parsed = CreateKeyBody.shape.role.safeParse(body["role"]);
  if (parsed.success) {
    Object.assign(faults, accountFaults(body, parsed.data), permissionFaults(body, parsed.data));
  }
  const { expires_at: expires } = body;
  if (typeof expires === "string" && Date.parse(expires) <= nowMs)
    faults["expires_at"] = "expected a time in the future";
  return faults;
}

function accountFaults(body: Readonly<Record<string, unknown>>, role: Role): FieldFaults {
  const faults: Record<string, string> = {};
  for (const [field, owner] of [
    ["affiliate_id", "partner"],
    ["advertiser_id", "advertiser"],
  ] as const) {
    const isGiven = (body[field] ?? null) !== null;
    if (role === owner && !isGiven) faults[field] = `required for ${owner} keys`;
    if (role !== owner && isGiven) faults[field] = `only for ${owner} keys`;
  }
  return faults;
}

function permissionFaults(body: Readonly<Record<string, unknown>>, role: Role): FieldFaults {
  const { permissions } = body;
  if (!Array.isArray(permissions)) return {};
  if (!isStaff(role))
    return { permissions: "only staff keys can be restricted to a list of permissions" };
  const held: readonly unknown[] = permissionsOf(role, null);
  const beyond = permissions.findIndex((name: unknown) => !held.includes(name));
  return beyond === -1 ? {} : { [`permissions[${beyond}]`]: `not a permission of ${role} keys` };
}
