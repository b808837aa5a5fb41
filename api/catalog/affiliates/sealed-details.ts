import { z } from "zod";
import { purposeOf } from "../../../schemas/secrets/sealed-columns.ts";
import type { SecretKeys } from "../../../schemas/secrets/secret-keys.ts";
import type { SealedField } from "../../records/managed-resource.ts";

type Texts = Readonly<Record<string, string>>;

const Stored = z.record(z.string(), z.string());
/** What answers show of texts that no key opens. As every mask, it has the sign of what is left out, and pays nobody. */
const UNOPENED_TEXTS: Texts = { sealed: "…" };

/** Undefined if no key of the ring opens them. `sealed`: what the column has. */
export function openTexts(keys: SecretKeys, id: number, sealed: unknown): Texts | undefined {
  if (!Buffer.isBuffer(sealed)) return {};
  const plain = keys.openBytes(purposeOf("affiliate", id), sealed);
  return plain === undefined ? undefined : Stored.parse(JSON.parse(plain.toString()));
}

export const paymentTextsField: SealedField = {
  field: "payment_details",
  seal: (keys, id, value) => {
    const texts = Stored.parse(value);
    if (Object.keys(texts).length === 0) return null;
    return keys.sealBytes(purposeOf("affiliate", id), Buffer.from(JSON.stringify(texts)));
  },
  open: (keys, id, sealed) => openTexts(keys, id, sealed) ?? UNOPENED_TEXTS,
};
