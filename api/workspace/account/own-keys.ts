import { z } from "zod";
import { ipRangesOf } from "../../../schemas/net/ip-ranges.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { insertKey } from "../../access/insert-key.ts";
import { showTo } from "../../access/visibility.ts";
import { deletedRecord } from "../../fields/body-fields.ts";
import { openPage } from "../../http/page.ts";
import { pathId } from "../../http/path-fields.ts";
import { pageParams } from "../../http/query-fields.ts";
import { ApiError, notFound } from "../../operation/errors.ts";
import {
  type FieldFaults,
  type Operation,
  type OperationAccess,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import { keyIdOf } from "../../operation/principal.ts";
import { CreateKeyBody, ShownOwnKey } from "../../people/keys/key-fields.ts";
import {
  findKeyById,
  findKeyBySecret,
  findUsableKeys,
  type KeyAccount,
  type KeyRow,
  listKeys,
  lockKeysOf,
  presentKey,
  revokeKey,
} from "../../people/keys/keys.ts";

/** Keys of one account that can be used at the same time, unless the staff creates more. */
const KEYS_MAX = 10;

const read: OperationAccess = { roles: ["partner", "advertiser"], isWrite: false };
const write: OperationAccess = { ...read, isWrite: true, needsFresh: true };
const one = z.object({ data: ShownOwnKey });

export const listOwnKeys: Operation = operation({
  name: "listOwnKeys",
  method: "GET",
  path: "/me/keys",
  tag: "Account",
  summary: "List the API keys of the account",
  description: "Newest first, including revoked ones.",
  access: read,
  input: { query: z.object(pageParams) },
  output: z.object({ data: z.array(ShownOwnKey), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listOwnKeys", query);
    const { column, id } = accountOf(context);
    const rows = await listKeys(context.db, context.workspace.id, {
      ...page,
      filters: { [column]: id },
    });
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => showTo(context.principal.role, "own_key", presentKey(row)),
      }),
    };
  },
});

export const createOwnKey: Operation = operation({
  name: "createOwnKey",
  method: "POST",
  path: "/me/keys",
  tag: "Account",
  summary: "Create an API key of the account",
  description:
    "Only this answer contains its secret. The key has the role and the account of the key that asks, and its addresses and expiry if the body names none. It may not be used " +
    "from more addresses, or for longer.",
  access: write,
  input: { body: CreateKeyBody.pick({ name: true, ip_allowlist: true, expires_at: true }) },
  output: one,
  status: 201,
  keepsAnswer: "sealed",
  failures: ["conflict"],
  findFaults: async (context, { body }) =>
    limitFaults(body, { asking: await askingKey(context), nowMs: context.nowMs }),
  run: async (context, { body }) => {
    const { db, workspace, principal } = context;
    const account = accountOf(context);
    const asking = await askingKey(context);
    const secret = await inTransaction(db, async (tx) => {
      await lockKeysOf(tx, account);
      if ((await findUsableKeys(tx, account, KEYS_MAX)).length >= KEYS_MAX)
        throw new ApiError("conflict", `the account has ${KEYS_MAX} keys already: delete one`);
      return await insertKey(tx, {
        workspaceId: workspace.id,
        name: body.name ?? "",
        role: principal.role,
        affiliateId: principal.affiliate?.id,
        advertiserId: principal.advertiser?.id,
        ipAllowlist: body.ip_allowlist ?? asking?.ip_allowlist,
        expiresAt: body.expires_at ?? asking?.expires_at ?? undefined,
      });
    });
    const row = await findKeyBySecret(db, secret);
    if (row === undefined) throw new Error("a key was inserted but cannot be read");
    return {
      body: { data: showTo(principal.role, "own_key", { ...presentKey(row), key: secret }) },
    };
  },
});

export const revokeOwnKey: Operation = operation({
  name: "revokeOwnKey",
  method: "DELETE",
  path: "/me/keys/{id}",
  tag: "Account",
  summary: "Revoke an API key of the account",
  description: "Not the last one that can be used.",
  access: write,
  input: { path: z.object({ id: pathId }) },
  output: z.object({ data: deletedRecord }),
  status: 200,
  failures: ["in_use"],
  findResource: async (context, { id }): Promise<KeyRow> => {
    const key = await findKeyById(context.db, context.workspace.id, id);
    const account = accountOf(context);
    if (key?.[account.column] !== account.id) throw notFound("key");
    return key;
  },
  run: async (context, { resource: { id } }) => {
    const account = accountOf(context);
    await inTransaction(context.db, async (tx) => {
      await lockKeysOf(tx, account);
      const [first, ...others] = await findUsableKeys(tx, account, 2);
      if (first === id && others.length === 0)
        throw new ApiError("in_use", "this is the last key of the account: create another first");
      await revokeKey(tx, id);
    });
    return { body: { data: { id, deleted: true } } };
  },
});

function accountOf({ principal: { affiliate, advertiser } }: OperationContext): KeyAccount {
  if (affiliate !== null) return { column: "affiliate_id", id: affiliate.id };
  if (advertiser !== null) return { column: "advertiser_id", id: advertiser.id };
  throw new Error("only keys of an account reach this operation");
}

/** The key that asks; undefined when a person does. */
async function askingKey({
  db,
  workspace,
  principal: { actor },
}: OperationContext): Promise<KeyRow | undefined> {
  const keyId = keyIdOf(actor);
  return keyId === null ? undefined : await findKeyById(db, workspace.id, keyId);
}

type Limits = { readonly asking: KeyRow | undefined; readonly nowMs: number };

/** A key must not create a key that reaches further: with a stolen key, somebody would outlive its limits. */
function limitFaults(body: Readonly<Record<string, unknown>>, limits: Limits): FieldFaults {
  const { expires_at: expires, ip_allowlist: addresses } = body;
  return {
    ...(typeof expires === "string" ? expiryFaults(expires, limits) : {}),
    ...(Array.isArray(addresses) ? addressFaults(addresses, limits) : {}),
  };
}

function expiryFaults(expires: string, { asking, nowMs }: Limits): FieldFaults {
  const endsAt = asking?.expires_at ?? null;
  if (Date.parse(expires) <= nowMs) return { expires_at: "expected a time in the future" };
  return endsAt !== null && Date.parse(expires) > Date.parse(endsAt)
    ? { expires_at: `expected at most ${endsAt}, when the key that asks expires` }
    : {};
}

function addressFaults(addresses: readonly unknown[], { asking }: Limits): FieldFaults {
  const allowed = asking?.ip_allowlist ?? [];
  if (allowed.length === 0) return {};
  const ranges = ipRangesOf(allowed);
  const isWithin = (address: unknown): boolean =>
    typeof address === "string" && (allowed.includes(address) || ranges.contains(address));
  const beyond = addresses.findIndex((address) => !isWithin(address));
  if (addresses.length > 0 && beyond < 0) return {};
  const field = addresses.length === 0 ? "ip_allowlist" : `ip_allowlist[${beyond}]`;
  return { [field]: "expected addresses that the key that asks may be used from" };
}
