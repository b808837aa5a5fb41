import { readInvoice } from "../../../schemas/billing/read-invoices.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { documentCsv } from "../documents/document-csv.ts";
import { documentHtml } from "../documents/document-html.ts";
import { documentPdf } from "../documents/document-pdf.ts";
import { fileName } from "../documents/file-answer.ts";
import { findFileOf, type KeptFile, keepFile } from "../documents/kept-files.ts";
import { type Approval, documentOf } from "./invoice-document.ts";

export const FILE_FORMATS = ["html", "pdf", "csv"] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

const MEDIA_TYPES: Readonly<Record<FileFormat, string>> = {
  html: "text/html; charset=utf-8",
  pdf: "application/pdf",
  csv: "text/csv; charset=utf-8",
};

type Wanted = {
  readonly invoiceId: number;
  readonly format: FileFormat;
  /** Only if the invoice is of this advertiser. */
  readonly advertiserId?: number | undefined;
};

/**
 * The kept file; made when somebody asks for it first, from what the approval froze (N10). Undefined for an invoice that has no number or is
 * not there.
 */
export async function invoiceFile(
  db: Queryable,
  workspaceId: number,
  { invoiceId, format, advertiserId }: Wanted,
): Promise<KeptFile | undefined> {
  const approval = await readApproval(db, workspaceId, { invoiceId, advertiserId });
  if (approval === undefined) return undefined;
  const key = { ownerKind: "invoice", ownerId: invoiceId, format } as const;
  const kept = await findFileOf(db, key);
  if (kept !== undefined) return kept;
  const invoice = await readInvoice(db, workspaceId, { id: invoiceId });
  if (invoice === undefined) return undefined;
  const document = documentOf(invoice, approval);
  const text = format === "csv" ? documentCsv(document) : documentHtml(document);
  return await keepFile(db, {
    ...key,
    workspaceId,
    advertiserId: invoice.advertiser_id,
    name: `${fileName(document.number)}.${format}`,
    mediaType: MEDIA_TYPES[format],
    bytes: format === "pdf" ? await documentPdf(document) : Buffer.from(text),
  });
}

async function readApproval(
  db: Queryable,
  workspaceId: number,
  { invoiceId, advertiserId }: Omit<Wanted, "format">,
): Promise<Approval | undefined> {
  const { rows } = await db.query<Omit<Approval, "issuedMs"> & { approved_at: string }>({
    name: "read-approval-of-invoice",
    text: `select number, parties, approved_at from invoice
           where workspace_id = $1 and id = $2 and number is not null and ($3::integer is null or advertiser_id = $3)`,
    values: [workspaceId, invoiceId, advertiserId],
  });
  const [row] = rows;
  return row && { ...row, issuedMs: Date.parse(row.approved_at) };
}
