import { z } from "zod";
import {
  listStatementLines,
  STATEMENT_FORMATS,
  type StatementRow,
} from "../../../schemas/billing/statements.ts";
import { unrestrictedStaff } from "../../access/access-of-operations.ts";
import { showTo, visibleFields } from "../../access/visibility.ts";
import { csvAnswer, listCsv } from "../../http/list-csv.ts";
import { pathId } from "../../http/path-fields.ts";
import { notFound } from "../../operation/errors.ts";
import {
  type Operation,
  type OperationAccess,
  type OperationContext,
  type OperationResult,
  operation,
} from "../../operation/operation.ts";
import { isStaff } from "../../operation/principal.ts";
import { documentHtml } from "../documents/document-html.ts";
import { documentPdf } from "../documents/document-pdf.ts";
import { fileAnswer, fileName } from "../documents/file-answer.ts";
import { findFileOf, type KeptFile, keepFile } from "../documents/kept-files.ts";
import { findShownStatement } from "./find-shown-statement.ts";
import { partnerReads } from "./read-statements.ts";
import { statementDocument } from "./statement-document.ts";
import { listStatementEntries, type StatementEntry } from "./statement-rows.ts";

const ShownDocument = z
  .strictObject({
    language: z.string(),
    title: z.string(),
    number: z.string(),
    issued_on: z.string(),
    due_on: z.string(),
    currency: z.string(),
    issuer: z.record(z.string(), z.string()),
    recipient: z.record(z.string(), z.string()),
    period: z.strictObject({ from: z.string(), to: z.string(), tz: z.string() }),
    lines: z.array(z.strictObject({ text: z.string(), count: z.int(), amount: z.string() })),
    totals: z.array(z.strictObject({ text: z.string(), amount: z.string(), is_main: z.boolean() })),
    notes: z.array(z.string()),
  })
  .meta({ id: "BillingDocument" });

const MEDIA_TYPES = {
  html: "text/html; charset=utf-8",
  pdf: "application/pdf",
  csv: "text/csv; charset=utf-8",
} as const;
const NUMBERS: ReadonlySet<string> = new Set(["amount"]);

function getDocument(path: string, access: OperationAccess, own: string): Operation {
  return operation({
    name: `get${own}StatementFile`,
    method: "GET",
    path: `${path}/{id}/files/{format}`,
    tag: "Billing",
    summary: own === "" ? "Get a statement's document" : "Get an own statement's document",
    description:
      "Of a statement with a number. `html` and `pdf` are made once and kept; `csv` has every entry; `json` has the texts of the document.",
    access,
    input: {
      path: z.object({
        id: pathId,
        format: z
          .enum([...STATEMENT_FORMATS, "json"])
          .meta({ description: "Form of the document" }),
      }),
    },
    output: z.object({ data: ShownDocument }),
    otherMediaTypes: ["text/html", "application/pdf", "text/csv"],
    status: 200,
    findResource: async (context: OperationContext, { id }) => {
      const row = await findShownStatement(context, id);
      if (row.number === null) throw notFound("document");
      return row;
    },
    run: async (context, { path: { format }, resource: row }) => {
      if (format === "csv") return await entriesCsv(context, row);
      if (format === "json") {
        const lines = await listStatementLines(context.db, row.id);
        return { body: { data: statementDocument(row, lines) } };
      }
      return await fileAnswer(context, await documentFile(context, row, format));
    },
  });
}

export const statementFiles: readonly Operation[] = [
  getDocument("/statements", unrestrictedStaff, ""),
  getDocument("/me/statements", partnerReads, "Own"),
];

/** The kept file; made when somebody asks for it first, from what the approval froze. */
async function documentFile(
  { db }: OperationContext,
  row: StatementRow,
  format: "html" | "pdf",
): Promise<KeptFile> {
  const key = { ownerKind: "statement", ownerId: row.id, format } as const;
  const kept = await findFileOf(db, key);
  if (kept !== undefined) return kept;
  const document = statementDocument(row, await listStatementLines(db, row.id));
  return await keepFile(db, {
    ...key,
    workspaceId: row.workspace_id,
    affiliateId: row.affiliate_id,
    name: `${document.number}.${format}`,
    mediaType: MEDIA_TYPES[format],
    bytes: format === "html" ? Buffer.from(documentHtml(document)) : await documentPdf(document),
  });
}

async function entriesCsv(
  { db, principal }: OperationContext,
  row: StatementRow,
): Promise<OperationResult> {
  const { role } = principal;
  const pieces = listCsv<StatementEntry>({
    fields: visibleFields("statement_entry", role),
    numbers: NUMBERS,
    read: async (after, rowsMax) =>
      await listStatementEntries(db, row, { before: after?.seq, rowsMax, isStaff: isStaff(role) }),
    show: (rows) => rows.map((entry) => showTo(role, "statement_entry", entry)),
  });
  return await csvAnswer(pieces, { name: `${fileName(row.number ?? "")}.csv`, bom: undefined });
}
