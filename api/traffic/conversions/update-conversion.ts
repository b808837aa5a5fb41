import { z } from "zod";
import { adminWrite } from "../../access/access-of-operations.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { actorOf, sendConversionCommand } from "./conversion-command.ts";
import { amountsOf, PatchConversionBody, ShownConversion } from "./conversion-fields.ts";
import { findConversion } from "./conversions.ts";
import { ConversionPath, getConversionOfPath } from "./get-conversion.ts";
import { showConversion } from "./show-conversion.ts";

/** Reason of a change that gives none (G93). */
export const MANUAL = "manual";

export const updateConversion: Operation = operation({
  name: "updateConversion",
  method: "PATCH",
  path: "/conversions/{id}",
  tag: "Conversions",
  summary: "Set the status or the amounts of a conversion",
  description:
    "Amounts are in the conversion's currency. A payout or revenue that is given is final; without one, a new sale amount computes percentages again " +
    "by the terms that the conversion was recorded with. A status is required unless there is an amount, and without it the status stays.",
  access: adminWrite("conversions.write"),
  input: { path: ConversionPath, body: PatchConversionBody },
  output: z.object({ data: ShownConversion }),
  status: 200,
  failures: ["conflict"],
  findResource: getConversionOfPath,
  run: async (context, { body, resource }) => {
    const { principal, db } = context;
    const answer = await sendConversionCommand(context, {
      kind: "set-status",
      workspaceId: principal.workspace.id,
      ...actorOf(principal),
      nowMs: context.nowMs,
      ids: [resource.id],
      bulk: false,
      status: body.status ?? null,
      amounts: amountsOf(body),
      reason: body.reason === undefined || body.reason === "" ? MANUAL : body.reason,
      notes: body.notes ?? null,
    });
    const changed = answer.kind === "changed" && answer.notFound.length === 0;
    const conversion = changed ? await findConversion(db, principal, resource.id) : undefined;
    if (conversion === undefined) throw notFound("conversion");
    return { body: { data: showConversion(principal.role, conversion) } };
  },
});
