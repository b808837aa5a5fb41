import { z } from "zod";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { adminWrite } from "../../access/access-of-operations.ts";
import { findReferenced, referenceFaults } from "../../access/references.ts";
import { AFFILIATE_STATUSES } from "../../fields/affiliate.ts";
import { oneOf, recordId, tags } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { presentFields } from "../../http/patch.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { affiliates } from "./affiliates.ts";

const IDS_MAX = 200;

const Body = z
  .strictObject({
    ids: listOf(recordId, {
      expected: "expected a list of ids",
      max: IDS_MAX,
      tooMany: `expected at most ${IDS_MAX} ids`,
    }).min(1, "expected at least one id"),
    status: oneOf(...AFFILIATE_STATUSES).optional(),
    manager_id: recordId.nullable().optional(),
    tags: tags.optional(),
  })
  .meta({ examples: [{ ids: [1, 2], status: "active" }] })
  .refine(({ ids: _ids, ...fields }) => Object.keys(presentFields(fields)).length > 0, {
    path: ["status"],
    message: "expected a status, a manager_id or tags",
  });
type Body = z.output<typeof Body>;

export const updateAffiliates: Operation = operation({
  name: "updateAffiliates",
  method: "PATCH",
  path: "/affiliates",
  tag: "Affiliates",
  summary: "Set the status, the manager or the tags of up to 200 affiliates",
  description:
    "Either all partners that exist are changed or none. Each changed partner fires `affiliate.updated`, as a change of a single partner does.",
  access: adminWrite("affiliates.write"),
  input: { body: Body },
  output: z.object({
    data: z.strictObject({ updated: z.array(affiliates.Shown), not_found: z.array(z.int()) }),
  }),
  status: 200,
  findFaults: async (context, { body }) =>
    await referenceFaults(context, body, { manager_id: "user" }),
  run: async (context, { body }) => {
    const { updated, notFound } = await change(context, body);
    return { body: { data: { updated, not_found: notFound } } };
  },
});

/** In order of id, so that two requests at once wait for each other instead of failing. */
async function change(context: OperationContext, { ids, ...body }: Body) {
  const asked = [...new Set(ids)].sort((a, b) => a - b);
  return await inTransaction(context.db, async (tx) => {
    const known = await findReferenced(tx, context.workspace.id, { kind: "affiliate", ids: asked });
    const updated: Record<string, unknown>[] = [];
    for (const id of asked) {
      if (!known.has(id)) continue;
      updated.push(
        await affiliates.show(context, await affiliates.change(tx, context, { id, body })),
      );
    }
    return { updated, notFound: asked.filter((id) => !known.has(id)) };
  });
}
