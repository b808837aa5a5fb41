import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { violatedConstraint } from "../../../schemas/postgres/errors.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { deletedRecord, oneOf } from "../../fields/body-fields.ts";
import { recordReference } from "../../fields/catalog-fields.ts";
import { openPage } from "../../http/page.ts";
import { pathId } from "../../http/path-fields.ts";
import { idParam, pageParams, textParam, wordParam } from "../../http/query-fields.ts";
import type { Reference } from "../../operation/codes.ts";
import { ApiError, conflict, notFound, validationFailed } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import type { Principal } from "../../operation/principal.ts";
import { findAffiliate } from "../affiliates/affiliates.ts";
import { findOffer } from "../offers/offers.ts";
import {
  ALIAS_KINDS,
  type AliasKind,
  type AliasRow,
  CreateAliasBody,
  PatchAliasBody,
  ShownAlias,
} from "./code-alias-fields.ts";
import {
  deleteAlias,
  findAlias,
  findSmartLinkId,
  insertAlias,
  listAliases,
  updateAlias,
} from "./code-aliases.ts";

const TAG = "Links";
const Kind = oneOf(...ALIAS_KINDS);
const Path = z.object({ id: pathId });
const One = z.object({ data: ShownAlias });
const NOUN: Readonly<Record<AliasKind, string>> = {
  offer: "offer",
  affiliate: "affiliate",
  smart_link: "smart link",
};

const listCodeAliases: Operation = operation({
  name: "listCodeAliases",
  method: "GET",
  path: "/code-aliases",
  tag: TAG,
  summary: "List aliases",
  description:
    "Codes of earlier systems that still name offers, partners and smart links, newest first.",
  access: staff("links.read"),
  input: {
    query: z.object({
      kind: wordParam(...ALIAS_KINDS),
      alias: textParam.meta({ description: "The exact alias; case is ignored" }),
      target_id: idParam,
      ...pageParams,
    }),
  },
  output: z.object({ data: z.array(ShownAlias), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listCodeAliases", query);
    const rows = await listAliases(context.db, context.workspace.id, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => shown(context, row),
      }),
    };
  },
});

const getCodeAlias: Operation = operation({
  name: "getCodeAlias",
  method: "GET",
  path: "/code-aliases/{id}",
  tag: TAG,
  summary: "Get an alias",
  access: staff("links.read"),
  input: { path: Path },
  output: One,
  status: 200,
  findResource: getAlias,
  run: (context, { resource }) => Promise.resolve({ body: { data: shown(context, resource) } }),
});

const createCodeAlias: Operation = operation({
  name: "createCodeAlias",
  method: "POST",
  path: "/code-aliases",
  tag: TAG,
  summary: "Create an alias",
  description:
    "Lets a code of an earlier system name an offer, a partner or a smart link. The alias works wherever the code of the record works: in links, postbacks, pixels, the landing-page script, `/tracking-link` and " +
    "report filters. It is asked only when no record has the text as its code or id. A record that gets this code or id later goes " +
    "before it, and `shadowed` is then true.",
  access: adminWrite("offers.write"),
  input: { body: CreateAliasBody },
  output: One,
  status: 201,
  failures: ["conflict"],
  findFaults: async (context, { body }) => {
    const kind = Kind.safeParse(body["kind"]);
    return kind.success ? await targetFaults(context, kind.data, body["target"]) : {};
  },
  run: async (context, { body: { kind, alias, target } }) => {
    refuseKind(context.principal, kind);
    const targetId = await getTarget(context, kind, target);
    const row = await written(context, async (tx) => {
      return await insertAlias(tx, context.workspace.id, { kind, alias, targetId });
    });
    return { body: { data: shown(context, row) } };
  },
});

const updateCodeAlias: Operation = operation({
  name: "updateCodeAlias",
  method: "PATCH",
  path: "/code-aliases/{id}",
  tag: TAG,
  summary: "Change an alias or what it names",
  access: adminWrite("offers.write"),
  input: { path: Path, body: PatchAliasBody },
  output: One,
  status: 200,
  failures: ["conflict"],
  findResource: getWritableAlias,
  findFaults: async (context, { body, resource }) =>
    await targetFaults(context, resource.kind, body["target"]),
  run: async (context, { body, resource: { id, kind, ...before } }) => {
    const targetId =
      body.target === undefined ? before.target_id : await getTarget(context, kind, body.target);
    const { alias = before.alias } = body;
    if (alias === before.alias && targetId === before.target_id) {
      return { body: { data: shown(context, { id, kind, ...before }) } };
    }
    const row = await written(context, async (tx) => {
      await updateAlias(tx, context.workspace.id, { id, kind, alias, targetId });
      return id;
    });
    return { body: { data: shown(context, row) } };
  },
});

const deleteCodeAlias: Operation = operation({
  name: "deleteCodeAlias",
  method: "DELETE",
  path: "/code-aliases/{id}",
  tag: TAG,
  summary: "Delete an alias",
  description: "Links with it stop working within a second.",
  access: adminWrite("offers.write"),
  input: { path: Path },
  output: z.object({ data: deletedRecord }),
  status: 200,
  findResource: getWritableAlias,
  run: async ({ db, workspace }, { resource: { id } }) => {
    await deleteAlias(db, workspace.id, id);
    return { body: { data: { id, deleted: true } } };
  },
});

/** Old codes that keep working (N112). */
export const codeAliasOperations: readonly Operation[] = [
  listCodeAliases,
  getCodeAlias,
  createCodeAlias,
  updateCodeAlias,
  deleteCodeAlias,
];

function shown({ principal }: OperationContext, row: AliasRow): Record<string, unknown> {
  return showTo(principal.role, "code_alias", row);
}

async function getAlias(
  { db, workspace }: OperationContext,
  { id }: { readonly id: number },
): Promise<AliasRow> {
  const row = await findAlias(db, workspace.id, id);
  if (row === undefined) throw notFound("alias");
  return row;
}

async function getWritableAlias(
  context: OperationContext,
  path: { readonly id: number },
): Promise<AliasRow> {
  const row = await getAlias(context, path);
  refuseKind(context.principal, row.kind);
  return row;
}

/** Who may not change partners may not give them codes either. */
function refuseKind({ permissions }: Principal, kind: AliasKind): void {
  if (kind === "affiliate" && !permissions.includes("affiliates.write"))
    throw new ApiError("forbidden", "this key lacks the permission affiliates.write");
}

async function targetFaults(
  context: OperationContext,
  kind: AliasKind,
  target: unknown,
): Promise<Record<string, string>> {
  const reference = recordReference.safeParse(target);
  if (!reference.success) return {};
  const id = await findTarget(context, kind, reference.data);
  return id === undefined ? { target: `no such ${NOUN[kind]}` } : {};
}

async function getTarget(
  context: OperationContext,
  kind: AliasKind,
  reference: Reference,
): Promise<number> {
  const id = await findTarget(context, kind, reference);
  if (id === undefined) throw validationFailed({ target: `no such ${NOUN[kind]}` });
  return id;
}

async function findTarget(
  { db, principal, workspace }: OperationContext,
  kind: AliasKind,
  reference: Reference,
): Promise<number | undefined> {
  switch (kind) {
    case "offer":
      return (await findOffer(db, principal, reference))?.id;
    case "affiliate":
      return (await findAffiliate(db, workspace.id, reference))?.id;
    case "smart_link":
      return await findSmartLinkId(db, workspace.id, reference);
  }
}

/**
 * Runs a write and returns the alias. An alias that nobody could ever reach is refused.
 * @throws {ApiError} `conflict`.
 */
async function written(
  { db, workspace }: OperationContext,
  write: (tx: Queryable) => Promise<number>,
): Promise<AliasRow> {
  try {
    return await inTransaction(db, async (tx) => {
      const row = await findAlias(tx, workspace.id, await write(tx));
      if (row === undefined) throw notFound("alias");
      if (row.shadowed) {
        throw conflict(
          "alias",
          `there is a record of this kind with "${row.alias}" as its code or id`,
        );
      }
      return row;
    });
  } catch (error) {
    if (violatedConstraint(error) !== "code_alias_alias") throw error;
    throw conflict("alias", "another record has this alias");
  }
}
