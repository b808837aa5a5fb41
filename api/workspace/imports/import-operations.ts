import { z } from "zod";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { authorize } from "../../access/authorize.ts";
import { openPage } from "../../http/page.ts";
import { pathId } from "../../http/path-fields.ts";
import { pageParams, wordParam } from "../../http/query-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { createImport } from "./create-import.ts";
import {
  kindParam,
  ShownImport,
  ShownImportWithFaults,
  shownImport,
  shownWithFaults,
} from "./import-fields.ts";
import { getImport as importOf, scopeOf } from "./import-of-path.ts";
import { accessOfKind } from "./imported-kinds.ts";
import { listImports as listRows, stopImport as stopRow } from "./imports.ts";
import { SHOWN_STATUSES } from "./stored-import.ts";

const path = z.object({ id: pathId });
const STOPPED = "Stopped by";

const listImports: Operation = operation({
  name: "listImports",
  method: "GET",
  path: "/imports",
  tag: "Management",
  summary: "List imports",
  description:
    "Newest first. Only imports of kinds whose records the caller may read or write. An import is forgotten 30 days after its end.",
  access: staff(),
  input: {
    query: z.object({
      ...pageParams,
      kind: kindParam.optional(),
      status: wordParam(...SHOWN_STATUSES),
    }),
  },
  output: z.object({ data: z.array(ShownImport), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listImports", query);
    const rows = await listRows(context.db, scopeOf(context), page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => shownImport(context, row),
      }),
    };
  },
});

const getImport: Operation = operation({
  name: "getImport",
  method: "GET",
  path: "/imports/{id}",
  tag: "Management",
  summary: "Get an import",
  description: "With the faults of the first 200 faulty rows.",
  access: staff(),
  input: { path },
  output: z.object({ data: ShownImportWithFaults }),
  status: 200,
  findResource: async (context, { id }) => await importOf(context, id),
  run: async (context, { resource }) =>
    await Promise.resolve({ body: { data: shownWithFaults(context, resource) } }),
});

const stopImport: Operation = operation({
  name: "stopImport",
  method: "POST",
  path: "/imports/{id}/stop",
  tag: "Management",
  summary: "Stop an import",
  description:
    "After the answer no more rows are written; those that are written stay. An import that has ended is answered as it is. Needs the permission to " +
    "create records of its kind.",
  access: adminWrite(),
  input: { path },
  output: z.object({ data: ShownImportWithFaults }),
  status: 200,
  failures: ["forbidden"],
  findResource: async (context, { id }) => await importOf(context, id),
  run: async (context, { resource: { id, kind } }) => {
    const { db, principal, imports } = context;
    authorize(principal, accessOfKind(kind));
    const message = `${STOPPED} ${principal.actor.name}.`;
    if (await inTransaction(db, async (tx) => await stopRow(tx, id, message))) imports?.stopped();
    return { body: { data: shownWithFaults(context, await importOf(context, id)) } };
  },
});

/** Files of offers, affiliates or advertisers. */
export const importOperations: readonly Operation[] = [
  createImport,
  listImports,
  getImport,
  stopImport,
];
