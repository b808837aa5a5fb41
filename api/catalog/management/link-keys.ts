import { randomInt } from "node:crypto";
import { z } from "zod";
import { adminWrite, staff } from "../../access/access-of-operations.ts";
import { recordId, shownTime } from "../../fields/body-fields.ts";
import { field } from "../../fields/field.ts";
import { idParam, textParam } from "../../http/query-fields.ts";
import { manage } from "../../records/manage.ts";

const ALPHABET = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const KEY_CHARACTERS = 10;

/** A hyphen separates the two codes of a key that needs no record (G183), so a stored key has none. */
const linkKey = z
  .string("expected a key")
  .regex(/^[A-Za-z0-9_]{4,64}$/, "expected 4 to 64 letters, digits or _");

/** Keys of `/c/{key}` in addition to `<offer_code>-<affiliate_code>` (G183). */
export const linkKeys = manage({
  resource: "link_key",
  names: { one: "LinkKey", many: "LinkKeys" },
  path: "/link-keys",
  table: "link_key",
  fields: {
    key: field(linkKey, { shown: z.string() }),
    offer_id: field(recordId, { shown: z.int(), required: true }),
    affiliate_id: field(recordId, { shown: z.int(), required: true }),
  },
  generated: () => ({ key: mintLinkKey() }),
  readOnly: { id: z.int(), created_at: shownTime },
  filters: { key: textParam, offer_id: idParam, affiliate_id: idParam },
  read: staff("links.read"),
  write: adminWrite("offers.write"),
  references: { offer_id: "offer", affiliate_id: "affiliate" },
  taken: { link_key_key_key: "key" },
});

function mintLinkKey(): string {
  return Array.from(
    { length: KEY_CHARACTERS },
    () => ALPHABET[randomInt(ALPHABET.length)] ?? "",
  ).join("");
}
