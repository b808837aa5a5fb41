import { createHash } from "node:crypto";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { csvLine, numberCell, textCell } from "../../http/csv.ts";
import type { BillingDocument, Party } from "./invoice-document.ts";

export const FILE_FORMATS = ["csv", "html"] as const;
type FileFormat = (typeof FILE_FORMATS)[number];

export type KeptFile = {
  readonly name: string;
  readonly media_type: string;
  readonly bytes: Buffer;
};

const MEDIA_TYPES: Readonly<Record<FileFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  html: "text/html; charset=utf-8",
};

/** Makes and keeps the files of an invoice, in the transaction of its approval. They never change (N10). */
export async function keepFiles(
  tx: Queryable,
  owner: {
    readonly workspaceId: number;
    readonly advertiserId: number;
    readonly invoiceId: number;
  },
  document: BillingDocument,
): Promise<void> {
  const name = document.number.replaceAll(/[^A-Za-z0-9._-]/g, "_");
  for (const format of FILE_FORMATS) {
    const bytes = Buffer.from(format === "csv" ? csvOf(document) : htmlOf(document), "utf8");
    await tx.query({
      name: "keep-invoice-file",
      text: `insert into billing_file (workspace_id, advertiser_id, owner_kind, owner_id, format, name, media_type, sha256, bytes)
             values ($1, $2, 'invoice', $3, $4, $5, $6, $7, $8)`,
      values: [
        owner.workspaceId,
        owner.advertiserId,
        owner.invoiceId,
        format,
        `${name}.${format}`,
        MEDIA_TYPES[format],
        createHash("sha256").update(bytes).digest(),
        bytes,
      ],
    });
  }
}

/** Undefined for an invoice without files: it is not approved. With `advertiserId` only a file of this advertiser. */
export async function findFile(
  db: Queryable,
  workspaceId: number,
  of: {
    readonly invoiceId: number;
    readonly format: string;
    readonly advertiserId?: number | undefined;
  },
): Promise<KeptFile | undefined> {
  const { rows } = await db.query<KeptFile>({
    name: "find-invoice-file",
    text: `select name, media_type, bytes from billing_file
           where workspace_id = $1 and owner_kind = 'invoice' and owner_id = $2 and format = $3
             and ($4::integer is null or advertiser_id = $4)`,
    values: [workspaceId, of.invoiceId, of.format, of.advertiserId ?? null],
  });
  return rows[0];
}

function csvOf({ number, currency, lines, totals }: BillingDocument): string {
  const row = (text: string, count: number | null, amount: string): string =>
    csvLine([textCell(number), textCell(text), numberCell(count), numberCell(amount), currency]);
  return [
    csvLine(["number", "text", "count", "amount", "currency"]),
    ...lines.map(({ text, count, amount }) => row(text, count, amount)),
    ...totals.map(({ text, amount }) => row(text, null, amount)),
  ].join("");
}

const STYLE =
  "body{font:15px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#111}table{width:100%;border-collapse:collapse}th,td{text-align:left;padding:.4rem .5rem;border-bottom:1px solid #ccc}.n{text-align:right;white-space:nowrap}.sides{display:flex;gap:2rem;flex-wrap:wrap}.sides>section{flex:1 1 16rem}";

/** A page without scripts, which a browser prints. */
function htmlOf(document: BillingDocument): string {
  const { title, number, parties, period, currency, lines, totals, tax_text, notes } = document;
  const rows = lines
    .map(
      ({ text, count, amount }) =>
        `<tr><td>${safe(text)}</td><td class="n">${count ?? ""}</td><td class="n">${amount}</td></tr>`,
    )
    .join("\n");
  const sums = totals
    .map(
      ({ text, amount }) =>
        `<tr><th scope="row" colspan="2">${safe(text)}</th><td class="n">${amount} ${currency}</td></tr>`,
    )
    .join("\n");
  return `<!doctype html>
<html lang="${safe(document.language)}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${safe(`${title} ${number}`)}</title>
<style>${STYLE}</style></head>
<body>
<h1>${safe(`${title} ${number}`)}</h1>
<p>Issued on ${document.issued_on} for ${period.from} to ${period.to}</p>
<div class="sides">
<section><h2>From</h2>${partyHtml(parties.issuer)}</section>
<section><h2>To</h2>${partyHtml(parties.recipient)}</section>
</div>
<table>
<thead><tr><th>What</th><th class="n">Count</th><th class="n">Amount (${currency})</th></tr></thead>
<tbody>
${rows}
</tbody>
<tfoot>
${sums}
</tfoot>
</table>
${[tax_text, ...notes].map((text) => (text === "" ? "" : `<p>${safe(text)}</p>`)).join("\n")}
</body>
</html>
`;
}

function partyHtml({ name, address, country, vat_id, iban, bic }: Party): string {
  const lines = [
    name,
    ...address.split("\n"),
    country,
    vat_id === "" ? "" : `VAT id ${vat_id}`,
    iban === "" ? "" : `IBAN ${iban}`,
    bic === "" ? "" : `BIC ${bic}`,
  ];
  return `<p>${lines
    .filter((line) => line.trim() !== "")
    .map(safe)
    .join("<br>")}</p>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function safe(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
