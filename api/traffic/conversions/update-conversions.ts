import { z } from "zod";
import { CONVERSION_STATUSES } from "../../../schemas/events/conversion-words.ts";
import { adminWrite } from "../../access/access-of-operations.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { actorOf, sendConversionCommand } from "./conversion-command.ts";
import { PatchConversionsBody } from "./conversion-fields.ts";
import { MANUAL } from "./update-conversion.ts";

const Output = z.strictObject({
  data: z.strictObject({
    updated: z.array(
      z.strictObject({
        id: z.guid(),
        status: z.enum(CONVERSION_STATUSES),
        status_reason: z.string(),
      }),
    ),
    not_found: z.array(z.guid()),
    skipped_duplicates: z.int(),
  }),
});

export const updateConversions: Operation = operation({
  name: "updateConversions",
  method: "PATCH",
  path: "/conversions",
  tag: "Conversions",
  summary: "Set the status of many conversions",
  description: "At most 500 in one call.",
  access: adminWrite("conversions.write"),
  input: { body: PatchConversionsBody },
  output: Output,
  status: 200,
  run: async (context, { body }) => {
    // A repeated id counts once (G94). Ids of a form that the service never creates cannot exist.
    const asked = [...new Set(body.ids)];
    const ids = asked.filter((id) => z.uuid().safeParse(id).success);
    const { updated, notFound, skippedDuplicates } = await setStatus(context, ids, body);
    const missing = new Set([...notFound, ...asked.filter((id) => !ids.includes(id))]);
    return {
      body: {
        data: {
          updated,
          not_found: asked.filter((id) => missing.has(id)),
          skipped_duplicates: skippedDuplicates,
        },
      },
    };
  },
});

async function setStatus(
  context: OperationContext,
  ids: string[],
  body: z.infer<typeof PatchConversionsBody>,
) {
  if (ids.length === 0) return { updated: [], notFound: [], skippedDuplicates: 0 };
  const answer = await sendConversionCommand(context, {
    kind: "set-status",
    workspaceId: context.workspace.id,
    ...actorOf(context.principal),
    nowMs: context.nowMs,
    ids,
    bulk: true,
    status: body.status,
    reason: body.reason === undefined || body.reason === "" ? MANUAL : body.reason,
    notes: null,
  });
  if (answer.kind !== "changed") throw new Error("expected the answer to a change of statuses");
  return answer;
}
