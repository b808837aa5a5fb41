import { presentFields } from "../http/patch.ts";
import type { OperationContext } from "../operation/operation.ts";
import { PERMISSIONS, ROLES, type Role } from "../operation/permissions.ts";
import { createKey } from "../people/keys/create-key.ts";
import { listKeys } from "../people/keys/list-keys.ts";
import { revokeKey } from "../people/keys/revoke-key.ts";
import { advertiserIdOf, affiliateIdOf } from "./accounts.ts";
import type { Command, CommandArguments } from "./command.ts";
import { UsageError } from "./command-error.ts";
import { wrapped } from "./help.ts";
import { IN_WORKSPACE, JSON_OUTPUT } from "./options.ts";
import { call, inWorkspace, listAll, type ShownRecord } from "./session.ts";
import { table } from "./table.ts";

const list: Command = {
  name: "key list",
  summary: "API keys of a workspace, including revoked ones",
  options: { ...IN_WORKSPACE, ...JSON_OUTPUT },
  examples: ["key list --workspace acme"],
  run: async (given, environment) =>
    await inWorkspace({ command: "key list", given, environment }, async (session) => {
      const keys = await listAll(session, listKeys);
      return given.has("json") ? JSON.stringify(keys, null, 2) : keyTable(keys);
    }),
};

function keyTable(keys: readonly ShownRecord[]): string {
  return table(
    [
      { title: "ID", value: ({ id }) => id },
      { title: "NAME", value: (key) => key["name"] },
      { title: "ROLE", value: (key) => key["role"] },
      { title: "OF", value: (key) => key["affiliate_id"] ?? key["advertiser_id"] },
      { title: "STATE", value: stateOf },
      { title: "CREATED", value: (key) => key["created_at"] },
      { title: "LAST USED", value: (key) => key["last_used_at"] ?? "never" },
    ],
    keys,
    "There is no key. `key create` creates one.",
  );
}

function stateOf(key: ShownRecord): string {
  if (key["revoked_at"] !== null) return "revoked";
  const expires = key["expires_at"];
  return typeof expires === "string" && Date.parse(expires) <= Date.now() ? "expired" : "live";
}

const create: Command = {
  name: "key create",
  summary: "creates a key; it is shown only this once",
  options: {
    ...IN_WORKSPACE,
    role: { value: ROLES.join("|"), summary: "what the key may do", isRequired: true },
    affiliate: { value: "CODE", summary: "of a partner key: code or id of the partner" },
    advertiser: { value: "ID", summary: "of an advertiser key" },
    name: { value: "N", summary: "for people to recognise it" },
    permission: {
      value: "P",
      summary: "of a staff key: limits it to this permission",
      isRepeatable: true,
    },
    "ip-allowlist": {
      value: "RANGE",
      summary: "address or CIDR range it may be used from",
      isRepeatable: true,
    },
    "expires-at": { value: "TIME", summary: "such as 2030-01-31T00:00:00Z; default: never" },
  },
  examples: [
    "key create --workspace acme --role analyst --name Dashboards",
    "key create --workspace acme --role partner --affiliate ANNA2024",
  ],
  notes: wrapped("Permissions:", PERMISSIONS.join(", ").split(" ")),
  run: async (given, environment) => {
    const role = roleOf(given);
    return await inWorkspace({ command: "key create", given, environment }, async (session) => {
      const permissions = given.texts("permission");
      const ranges = given.texts("ip-allowlist");
      const made = await call(session, createKey, {
        body: presentFields({
          role,
          name: given.text("name"),
          ...(await accountOf(session.context, given)),
          permissions: permissions.length === 0 ? undefined : permissions,
          ip_allowlist: ranges.length === 0 ? undefined : ranges,
          expires_at: given.text("expires-at"),
        }),
      });
      return `${String(made["key"])}\nThe key is shown only this once: keep it.`;
    });
  },
};

function roleOf(given: CommandArguments): Role {
  const role = given.required("role");
  const known = ROLES.find((one) => one === role);
  if (known === undefined)
    throw new UsageError(`--role ${role} is not one of ${ROLES.join(", ")}.`);
  if ((known === "partner") !== (given.text("affiliate") !== undefined)) {
    throw new UsageError("--affiliate belongs to --role partner, which needs it.");
  }
  if ((known === "advertiser") !== (given.text("advertiser") !== undefined)) {
    throw new UsageError("--advertiser belongs to --role advertiser, which needs it.");
  }
  return known;
}

/** The account of a key, which its role requires. */
async function accountOf(
  context: OperationContext,
  given: CommandArguments,
): Promise<{ readonly affiliate_id?: number; readonly advertiser_id?: number }> {
  const affiliate = given.text("affiliate");
  if (affiliate !== undefined) return { affiliate_id: await affiliateIdOf(context, affiliate) };
  const advertiser = given.text("advertiser");
  if (advertiser !== undefined) return { advertiser_id: await advertiserIdOf(context, advertiser) };
  return {};
}

const revoke: Command = {
  name: "key revoke",
  operand: { name: "ID", summary: "of the key, as `key list` shows it" },
  summary: "disables a key within a second; it stays in the list",
  options: IN_WORKSPACE,
  examples: ["key revoke 12 --workspace acme"],
  run: async (given, environment) =>
    await inWorkspace({ command: "key revoke", given, environment }, async (session) => {
      await call(session, revokeKey, { path: { id: given.operand } });
      return `Key ${given.operand} is revoked.`;
    }),
};

export const keyCommands: readonly Command[] = [list, create, revoke];
