import { keepFile } from "../../../api/billing/documents/kept-files.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { StatementBooks } from "../../integration/billing/statement-books.ts";
import type { Names } from "./bodies.ts";

/** No invoice of the test has such a number, and so none has kept this file. */
const FAR_FROM_INVOICES = 1_000_000;

/** An approved statement of the partner with a conversion, and a file of partner and advertiser. */
export async function addStatement(
  db: Pool,
  ids: Map<string, string[]>,
  { affiliateId, advertiserId, offerId, word }: Names,
): Promise<void> {
  const { rows } = await db.query<{ workspace_id: number }>({
    text: "select workspace_id from affiliate where id = $1",
    values: [affiliateId],
  });
  const workspaceId = rows[0]?.workspace_id ?? 0;
  const books = new StatementBooks({ pool: db }, workspaceId, word);
  await books.switchOn();
  const [conversionId] = ids.get("conversions/{id}") ?? [];
  const fact = { affiliateId, offerId, eventCode: word, conversionId, currency: "USD" };
  await books.earn({ ...fact, amount: "10" });
  const [made] = await books.closeNow(affiliateId);
  const id = made?.row.id ?? 0;
  await books.approve(id);
  const file = await keepFile(db, {
    workspaceId,
    affiliateId,
    advertiserId,
    ownerKind: "invoice",
    ownerId: id + FAR_FROM_INVOICES,
    format: "html",
    name: `${word}.html`,
    mediaType: "text/html",
    bytes: Buffer.from(word),
  });
  ids.set("statements/{id}", [String(id)]);
  ids.set("files/{id}", [String(file.id)]);
}
