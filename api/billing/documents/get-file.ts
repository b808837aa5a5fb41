import { z } from "zod";
import { shownSchema, showTo } from "../../access/visibility.ts";
import { shownTime } from "../../fields/body-fields.ts";
import { pathId } from "../../http/path-fields.ts";
import { wordParam } from "../../http/query-fields.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, type OperationContext, operation } from "../../operation/operation.ts";
import { fileAnswer } from "./file-answer.ts";
import { findFile } from "./kept-files.ts";

const ShownFile = shownSchema("billing_file", {
  id: z.int(),
  name: z.string(),
  media_type: z.string(),
  sha256: z.string(),
  size: z.int(),
  created_at: shownTime,
}).meta({ id: "BillingFile" });

export const getFile: Operation = operation({
  name: "getFile",
  method: "GET",
  path: "/files/{id}",
  tag: "Billing",
  summary: "Get a kept file",
  description:
    "The bytes of a document, as they were made. Partners and advertisers get their own. With `format=json`, what is known of the file.",
  access: {
    roles: ["admin", "analyst", "partner", "advertiser"],
    isWrite: false,
    needsUnrestrictedKey: true,
  },
  input: {
    path: z.object({ id: pathId }),
    query: z.object({ format: wordParam("file", "json").meta({ description: "Default `file`" }) }),
  },
  output: z.object({ data: ShownFile }),
  otherMediaTypes: ["text/html", "application/pdf", "text/csv", "application/xml"],
  status: 200,
  failures: ["unavailable"],
  findResource: async ({ db, workspace, principal }: OperationContext, { id }) => {
    const owner = {
      workspaceId: workspace.id,
      affiliateId: principal.affiliate?.id ?? null,
      advertiserId: principal.advertiser?.id ?? null,
    };
    const file = await findFile(db, owner, id);
    if (file === undefined) throw notFound("file");
    return file;
  },
  run: async (context, { query, resource: file }) =>
    query.format === "json"
      ? { body: { data: showTo(context.principal.role, "billing_file", file) } }
      : await fileAnswer(context, file),
});
