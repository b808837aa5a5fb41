import { Readable } from "node:stream";
import { z } from "zod";
import { advertiserOnly, unrestrictedStaff } from "../../access/access-of-operations.ts";
import { pathId } from "../../http/path-fields.ts";
import { notFound } from "../../operation/errors.ts";
import { type Operation, type OperationResult, operation } from "../../operation/operation.ts";
import { FILE_FORMATS, findFile, type KeptFile } from "./document-files.ts";

const common = {
  method: "GET",
  tag: "Billing",
  description: "As it was made when the invoice was approved. 404 before that.",
  input: {
    path: z.object({ id: pathId, format: z.enum(FILE_FORMATS).meta({ examples: ["html"] }) }),
  },
  output: z.string().meta({ description: "The file itself, never JSON" }),
  otherMediaTypes: ["text/csv", "text/html"],
  status: 200,
} as const;

export const getInvoiceFile: Operation = operation({
  ...common,
  name: "getInvoiceFile",
  path: "/invoices/{id}/files/{format}",
  summary: "Get the file of an invoice",
  access: unrestrictedStaff,
  run: async ({ db, workspace }, { path: { id, format } }) =>
    answerOf(await findFile(db, workspace.id, { invoiceId: id, format })),
});

export const getOwnInvoiceFile: Operation = operation({
  ...common,
  name: "getOwnInvoiceFile",
  path: "/me/invoices/{id}/files/{format}",
  summary: "Get the file of an own invoice",
  access: advertiserOnly(),
  run: async ({ db, workspace, principal }, { path: { id, format } }) => {
    const advertiserId = principal.advertiser?.id ?? 0;
    return answerOf(await findFile(db, workspace.id, { invoiceId: id, format, advertiserId }));
  },
});

function answerOf(file: KeptFile | undefined): OperationResult {
  if (file === undefined) throw notFound("file");
  return {
    stream: Readable.from([file.bytes], { objectMode: false }),
    contentType: file.media_type,
    headers: { "content-disposition": `attachment; filename="${file.name}"` },
  };
}
