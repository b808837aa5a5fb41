import { z } from "zod";
import {
  type ApprovalResult,
  approveStatement as approveOne,
} from "../../../schemas/billing/approve-statement.ts";
import type { BillingActor } from "../../../schemas/billing/billing-event.ts";
import { listStatementLines } from "../../../schemas/billing/statements.ts";
import { voidStatement as voidOne } from "../../../schemas/billing/void-statement.ts";
import { unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { recordId } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import { pathId } from "../../http/path-fields.ts";
import { ApiError, conflict, notFound } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { keyIdOf } from "../../operation/principal.ts";
import { findShownStatement } from "./find-shown-statement.ts";
import { ShownStatementPage, showStatement } from "./statement-fields.ts";

const IDS_MAX = 500;
const REFUSALS = {
  missing: "There is no such statement.",
  not_draft: "Only a draft is approved.",
  violations:
    "The last audit of the ledger found violations: nothing is approved until an audit finds none.",
} as const;

export const approveStatement: Operation = operation({
  name: "approveStatement",
  method: "POST",
  path: "/statements/{id}/approve",
  tag: "Billing",
  summary: "Approve a statement",
  description:
    "Posts the tax, gives the number and keeps the names and addresses of both sides as they are now. An approved statement is answered as it is.",
  access: unrestrictedAdminWrite,
  input: { path: z.object({ id: pathId }) },
  output: z.object({ data: ShownStatementPage }),
  status: 200,
  keepsAnswer: true,
  failures: ["conflict"],
  findResource: async (context: OperationContext, { id }) => await findShownStatement(context, id),
  run: async (context, { path }) => {
    const result = await approve(context, path.id);
    if (!("statement" in result)) throw conflict("status", REFUSALS[result.outcome]);
    const { row, lines } = result.statement;
    return { body: { data: showStatement(context.principal.role, row, lines) } };
  },
});

const ShownResult = z.strictObject({
  id: z.int(),
  outcome: z.enum(["approved", "unchanged", "refused"]),
  number: z.string().nullable(),
  message: z.string().meta({ description: "Why it is refused; else empty" }),
});

export const approveStatements: Operation = operation({
  name: "approveStatements",
  method: "POST",
  path: "/statements/approve",
  tag: "Billing",
  summary: "Approve statements",
  description:
    "Each by itself, in the order of the list: a statement that is refused does not stop the others. Sent again, it approves what is left.",
  access: unrestrictedAdminWrite,
  input: {
    body: z.strictObject({
      ids: listOf(recordId, {
        expected: "expected a list of ids",
        max: IDS_MAX,
        tooMany: `expected at most ${IDS_MAX} ids`,
      }).min(1, "expected an id"),
    }),
  },
  output: z.object({ data: z.array(ShownResult) }),
  status: 200,
  keepsAnswer: true,
  run: async (context, { body }) => {
    const data: z.infer<typeof ShownResult>[] = [];
    for (const id of new Set(body.ids)) {
      const result = await approve(context, id);
      const { outcome } = result;
      data.push(
        "statement" in result
          ? { id, outcome: result.outcome, number: result.statement.row.number, message: "" }
          : { id, outcome: "refused", number: null, message: REFUSALS[result.outcome] },
      );
      // The same is true of all that follow.
      if (outcome === "violations" && data.length === 1)
        throw conflict("status", REFUSALS[outcome]);
    }
    return { body: { data } };
  },
});

export const voidStatement: Operation = operation({
  name: "voidStatement",
  method: "POST",
  path: "/statements/{id}/void",
  tag: "Billing",
  summary: "Void a statement",
  description:
    "Only the newest statement of a partner in its currency, and only a draft or a carried one. What it contains is on the next statement.",
  access: unrestrictedAdminWrite,
  input: { path: z.object({ id: pathId }) },
  output: z.object({ data: ShownStatementPage }),
  status: 200,
  keepsAnswer: true,
  failures: ["conflict"],
  findResource: async (context: OperationContext, { id }) => await findShownStatement(context, id),
  run: async ({ db, workspace, principal }, { path: { id } }) => {
    const result = await voidOne(db, workspace.id, id);
    if (result.outcome !== "voided") throw voidFault(result.outcome);
    const lines = await listStatementLines(db, id);
    return { body: { data: showStatement(principal.role, result.row, lines) } };
  },
});

function voidFault(outcome: "missing" | "not_voidable" | "not_newest"): ApiError {
  if (outcome === "missing") return notFound("statement");
  return outcome === "not_voidable"
    ? conflict("status", "Only a draft or a carried statement is voided.")
    : new ApiError("conflict", "A newer statement follows this one: void that one first.");
}

async function approve(
  { db, workspace, principal: { actor }, requestId, trace }: OperationContext,
  id: number,
): Promise<ApprovalResult> {
  const by: BillingActor = {
    keyId: keyIdOf(actor) ?? undefined,
    personId: actor.kind === "person" ? actor.id : undefined,
  };
  const cause = { request_id: requestId, traceparent: trace?.traceparent };
  return await approveOne(db, { workspaceId: workspace.id, id, by, cause });
}
