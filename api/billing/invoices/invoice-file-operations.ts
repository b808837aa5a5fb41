import { z } from "zod";
import { advertiserOnly, unrestrictedStaff } from "../../access/access-of-operations.ts";
import { pathId } from "../../http/path-fields.ts";
import { notFound } from "../../operation/errors.ts";
import {
  type Operation,
  type OperationContext,
  type OperationResult,
  operation,
} from "../../operation/operation.ts";
import { fileAnswer } from "../documents/file-answer.ts";
import type { KeptFile } from "../documents/kept-files.ts";
import { FILE_FORMATS, invoiceFile } from "./document-files.ts";

const common = {
  method: "GET",
  tag: "Billing",
  description: "Made once, from what the approval froze, and kept. 404 before the approval.",
  input: {
    path: z.object({ id: pathId, format: z.enum(FILE_FORMATS).meta({ examples: ["html"] }) }),
  },
  output: z.string().meta({ description: "The file itself, never JSON" }),
  otherMediaTypes: ["text/html", "application/pdf", "text/csv"],
  status: 200,
} as const;

export const getInvoiceFile: Operation = operation({
  ...common,
  name: "getInvoiceFile",
  path: "/invoices/{id}/files/{format}",
  summary: "Get the file of an invoice",
  access: unrestrictedStaff,
  run: async (context, { path: { id, format } }) => {
    const { db, workspace } = context;
    return await answerOf(context, await invoiceFile(db, workspace.id, { invoiceId: id, format }));
  },
});

export const getOwnInvoiceFile: Operation = operation({
  ...common,
  name: "getOwnInvoiceFile",
  path: "/me/invoices/{id}/files/{format}",
  summary: "Get the file of an own invoice",
  access: advertiserOnly(),
  run: async (context, { path: { id: invoiceId, format } }) => {
    const { db, workspace, principal } = context;
    const advertiserId = principal.advertiser?.id ?? 0;
    const file = await invoiceFile(db, workspace.id, { invoiceId, format, advertiserId });
    return await answerOf(context, file);
  },
});

async function answerOf(
  context: OperationContext,
  file: KeptFile | undefined,
): Promise<OperationResult> {
  if (file === undefined) throw notFound("file");
  return await fileAnswer(context, file);
}
