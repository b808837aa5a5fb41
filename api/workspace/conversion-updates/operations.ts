import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { openPage } from "../../http/page.ts";
import { pathId } from "../../http/path-fields.ts";
import { pageParams, wordParam } from "../../http/query-fields.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { beginToApply, beginToUndo, stopUpdate } from "./change-phase.ts";
import { createConversionUpdate } from "./create-conversion-update.ts";
import { listUpdateRows, listUpdates, OUTCOMES, SHOWN_STATUSES } from "./stored-update.ts";
import {
  ShownUpdate,
  ShownUpdateRow,
  ShownUpdateWithSums,
  shownRow,
  shownUpdate,
  shownWithSums,
} from "./update-fields.ts";
import { getUpdate } from "./update-of-path.ts";

const path = z.object({ id: pathId });

const listConversionUpdates: Operation = operation({
  name: "listConversionUpdates",
  method: "GET",
  path: "/conversion-updates",
  tag: "Conversions",
  summary: "List files of confirmed conversions",
  description:
    "Newest first. A file is forgotten 90 days after its end, or 30 days after its check.",
  access: staff("conversions.read"),
  input: { query: z.object({ ...pageParams, status: wordParam(...SHOWN_STATUSES) }) },
  output: z.object({ data: z.array(ShownUpdate), next_cursor: z.string().nullable() }),
  status: 200,
  run: async (context, { query }) => {
    const page = openPage(context, "listConversionUpdates", query);
    const rows = await listUpdates(context.db, context.workspace.id, page);
    return {
      body: page.close(rows, {
        positionOf: (row) => ({ at: row.created_at, id: String(row.id) }),
        show: (row) => shownUpdate(context, row),
      }),
    };
  },
});

const getConversionUpdate: Operation = operation({
  name: "getConversionUpdate",
  method: "GET",
  path: "/conversion-updates/{id}",
  tag: "Conversions",
  summary: "Get a file of confirmed conversions",
  description:
    "With what its conversions earn and charge before and after it, by partner and currency: the largest differences first, at most 500.",
  access: staff("conversions.read"),
  input: { path },
  output: z.object({ data: ShownUpdateWithSums }),
  status: 200,
  findResource: async (context, { id }) => await getUpdate(context, id),
  run: async (context, { resource }) => ({
    body: { data: await shownWithSums(context, resource) },
  }),
});

const listConversionUpdateRows: Operation = operation({
  name: "listConversionUpdateRows",
  method: "GET",
  path: "/conversion-updates/{id}/rows",
  tag: "Conversions",
  summary: "List the rows of a file of confirmed conversions",
  description:
    "In the order of the file. Rows are numbered as in a spreadsheet, where the header is row 1. Conversions that the file does not name follow the last row.",
  access: staff("conversions.read"),
  input: { path, query: z.object({ ...pageParams, outcome: wordParam(...OUTCOMES) }) },
  output: z.object({ data: z.array(ShownUpdateRow), next_cursor: z.string().nullable() }),
  status: 200,
  findResource: async (context, { id }) => await getUpdate(context, id),
  run: async (context, { query, resource }) => {
    const page = openPage(context, `listConversionUpdateRows ${resource.id}`, query);
    const rows = await listUpdateRows(context.db, resource.id, page);
    return {
      body: page.close(rows, {
        positionOf: ({ number }) => ({ at: resource.created_at, id: String(number) }),
        show: (row) => shownRow(context, row),
      }),
    };
  },
});

/** A write that begins or ends a phase of an update. */
function changePhase(
  words: Pick<Operation, "name" | "summary" | "description"> & { readonly verb: string },
  change: (context: OperationContext, id: number) => Promise<void>,
): Operation {
  const { verb, ...told } = words;
  return operation({
    ...told,
    method: "POST",
    path: `/conversion-updates/{id}/${verb}`,
    tag: "Conversions",
    access: adminWrite("conversions.write"),
    input: { path },
    output: z.object({ data: ShownUpdate }),
    status: 200,
    keepsAnswer: true,
    failures: ["conflict"],
    findResource: async (context, { id }) => await getUpdate(context, id),
    run: async (context, { resource: { id } }) => {
      await change(context, id);
      context.imports?.due();
      return { body: { data: shownUpdate(context, await getUpdate(context, id)) } };
    },
  });
}

export const applyConversionUpdate = changePhase(
  {
    name: "applyConversionUpdate",
    verb: "apply",
    summary: "Apply a file of confirmed conversions",
    description:
      "Begins to change the conversions, row by row as by `PATCH /conversions/{id}`, in the background. Each row is judged anew by the state of its " +
      "conversion. A file that is applied already is answered as it is.",
  },
  async ({ db, principal, requestId }, id) => await beginToApply(db, id, { principal, requestId }),
);

const undoConversionUpdate = changePhase(
  {
    name: "undoConversionUpdate",
    verb: "undo",
    summary: "Undo a file of confirmed conversions",
    description:
      "Begins to restore the conversions whose state is still what the file made; others are kept. Refused once an approved statement has money of it.",
  },
  async ({ db, principal, requestId }, id) => await beginToUndo(db, id, { principal, requestId }),
);

const stopConversionUpdate = changePhase(
  {
    name: "stopConversionUpdate",
    verb: "stop",
    summary: "Stop a file of confirmed conversions",
    description:
      "After the answer no more conversions are changed; those that are changed stay, and can be undone. A file that has ended is answered as it is.",
  },
  async ({ db, principal }, id) => await stopUpdate(db, id, principal.actor.name),
);

/** Confirmation of conversions by file (N129). */
export const conversionUpdateOperations: readonly Operation[] = [
  createConversionUpdate,
  listConversionUpdates,
  getConversionUpdate,
  listConversionUpdateRows,
  applyConversionUpdate,
  undoConversionUpdate,
  stopConversionUpdate,
];
