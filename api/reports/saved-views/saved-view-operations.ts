import { z } from "zod";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { everyRole } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { deletedRecord } from "../../fields/body-fields.ts";
import { openPage } from "../../http/page.ts";
import { pathId } from "../../http/path-fields.ts";
import { pageParams } from "../../http/query-fields.ts";
import { ApiError, notFound } from "../../operation/errors.ts";
import {
  type Operation,
  type OperationAccess,
  type OperationContext,
  operation,
} from "../../operation/operation.ts";
import { CreateBody, type SavedViewRow, ShownSavedView, UpdateBody } from "./saved-view-fields.ts";
import {
  countOwnViews,
  deleteView,
  findView,
  insertView,
  listViews,
  lockViewsOf,
  updateView,
} from "./saved-views.ts";

/** Views of one person or key in one account. */
const OWN_MAX = 50;

const read = everyRole();
const write: OperationAccess = { ...read, isWrite: true, changesOwnOnly: true };
const path = z.object({ id: pathId });
const one = z.object({ data: ShownSavedView });

const listSavedViews: Operation = operation({
  name: "listSavedViews",
  method: "GET",
  path: "/saved-views",
  tag: "Reports",
  summary: "List saved views",
  description: "Newest first: the own ones, and those that others of the same account share.",
  access: read,
  input: { query: z.object(pageParams) },
  output: z.object({ data: z.array(ShownSavedView), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listSavedViews", query);
    const rows = await listViews(context.db, context.principal, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => shown(context, row),
      }),
    };
  },
});

const createSavedView: Operation = operation({
  name: "createSavedView",
  method: "POST",
  path: "/saved-views",
  tag: "Reports",
  summary: "Save a view",
  description: `A report or a list with its settings, by the address of its screen. At most ${OWN_MAX} of a person or key.`,
  access: write,
  input: { body: CreateBody },
  bodyDefaults: { query: "", is_shared: false },
  output: one,
  status: 201,
  failures: ["conflict"],
  run: async (context, { body }) => {
    const { db, principal } = context;
    const view = { query: "", is_shared: false, ...body };
    const id = await inTransaction(db, async (tx) => {
      await lockViewsOf(tx, principal);
      if ((await countOwnViews(tx, principal, OWN_MAX)) >= OWN_MAX)
        throw new ApiError("conflict", `you have ${OWN_MAX} saved views already: delete one`);
      return await insertView(tx, principal, view);
    });
    return { body: { data: shown(context, await seen(context, id)) } };
  },
});

const updateSavedView: Operation = operation({
  name: "updateSavedView",
  method: "PATCH",
  path: "/saved-views/{id}",
  tag: "Reports",
  summary: "Change a saved view",
  description: "Only an own one.",
  access: write,
  input: { path, body: UpdateBody },
  output: one,
  status: 200,
  failures: ["forbidden"],
  findResource: ownOfPath,
  run: async (context, { body, resource: { id } }) => {
    if (!(await updateView(context.db, id, body))) throw notFound("saved view");
    return { body: { data: shown(context, await seen(context, id)) } };
  },
});

const deleteSavedView: Operation = operation({
  name: "deleteSavedView",
  method: "DELETE",
  path: "/saved-views/{id}",
  tag: "Reports",
  summary: "Delete a saved view",
  description: "Only an own one.",
  access: write,
  input: { path },
  output: z.object({ data: deletedRecord }),
  status: 200,
  failures: ["forbidden"],
  findResource: ownOfPath,
  run: async ({ db }, { resource: { id } }) => {
    await deleteView(db, id);
    return { body: { data: { id, deleted: true } } };
  },
});

/** Reports and lists that somebody has named. */
export const savedViewOperations: readonly Operation[] = [
  listSavedViews,
  createSavedView,
  updateSavedView,
  deleteSavedView,
];

async function ownOfPath(
  context: OperationContext,
  { id }: { readonly id: number },
): Promise<SavedViewRow> {
  const view = await findView(context.db, context.principal, id);
  if (view === undefined) throw notFound("saved view");
  if (!view.is_own) throw new ApiError("forbidden", "only who made a saved view may change it");
  return view;
}

async function seen(context: OperationContext, id: number): Promise<SavedViewRow> {
  const view = await findView(context.db, context.principal, id);
  if (view === undefined) throw notFound("saved view");
  return view;
}

function shown({ principal }: OperationContext, row: SavedViewRow): Record<string, unknown> {
  return showTo(principal.role, "saved_view", row);
}
