import { createHash } from "node:crypto";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { purposeOf } from "../../../schemas/secrets/sealed-columns.ts";
import { SecretKeyError, type SecretKeys } from "../../../schemas/secrets/secret-keys.ts";

/** A document as it was made, for ever (N10). */
export type KeptFile = {
  readonly id: number;
  readonly name: string;
  readonly media_type: string;
  readonly sha256: string;
  readonly size: number;
  readonly created_at: string;
};

/** What a file belongs to, and its form. */
export type FileKey = {
  readonly ownerKind: "statement" | "invoice" | "payout_run";
  readonly ownerId: number;
  readonly format: string;
};

export type NewFile = FileKey & {
  readonly workspaceId: number;
  /** Who may read it besides the staff. */
  readonly affiliateId?: number | undefined;
  readonly advertiserId?: number | undefined;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
  /** Keys under which its bytes are stored, for a file with secrets. */
  readonly sealWith?: SecretKeys;
};

export type FileOwner = {
  readonly workspaceId: number;
  /** Of a partner's or an advertiser's key; null for the staff. */
  readonly affiliateId: number | null;
  readonly advertiserId: number | null;
};

const COLUMNS = `id, name, media_type, encode(sha256, 'hex') as sha256, size, created_at`;

export async function findFileOf(db: Queryable, key: FileKey): Promise<KeptFile | undefined> {
  const { rows } = await db.query<KeptFile>({
    name: "find-file-of-owner",
    text: `select ${COLUMNS} from billing_file where owner_kind = $1 and owner_id = $2 and format = $3`,
    values: [key.ownerKind, key.ownerId, key.format],
  });
  return rows[0];
}

/** A file that a key may read. */
export async function findFile(
  db: Queryable,
  owner: FileOwner,
  id: number,
): Promise<KeptFile | undefined> {
  const { rows } = await db.query<KeptFile>({
    name: "find-billing-file",
    text: `select ${COLUMNS} from billing_file
           where workspace_id = $1 and id = $2 and ($3::integer is null or affiliate_id = $3)
             and ($4::integer is null or advertiser_id = $4)`,
    values: [owner.workspaceId, id, owner.affiliateId, owner.advertiserId],
  });
  return rows[0];
}

/** @throws {SecretKeyError} for a sealed file that no key opens. */
export async function readFileBytes(db: Queryable, keys: SecretKeys, id: number): Promise<Buffer> {
  const { rows } = await db.query<FileKey & { bytes: Buffer; is_sealed: boolean }>({
    name: "read-bytes-of-billing-file",
    text: `select bytes, is_sealed, owner_kind as "ownerKind", owner_id as "ownerId", format from billing_file where id = $1`,
    values: [id],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("a kept file is gone");
  if (!row.is_sealed) return row.bytes;
  const bytes = keys.openBytes(purposeOfFile(row), row.bytes);
  if (bytes === undefined) throw new SecretKeyError(`no key of SECRETS_KEY opens file ${id}`);
  return bytes;
}

function purposeOfFile({ ownerKind, ownerId, format }: FileKey): string {
  return purposeOf("billing_file", ownerKind, ownerId, format);
}

/** Keeps a file unless there is one; answers the one that is kept. Of two that make it at the same time, both get the first. */
export async function keepFile(db: Queryable, file: NewFile): Promise<KeptFile> {
  await db.query({
    name: "keep-billing-file",
    text: `insert into billing_file (workspace_id, affiliate_id, advertiser_id, owner_kind, owner_id, format, name, media_type, sha256, size, bytes,
             is_sealed)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (owner_kind, owner_id, format) do nothing`,
    values: [
      file.workspaceId,
      file.affiliateId,
      file.advertiserId,
      file.ownerKind,
      file.ownerId,
      file.format,
      file.name,
      file.mediaType,
      createHash("sha256").update(file.bytes).digest(),
      file.bytes.length,
      file.sealWith?.sealBytes(purposeOfFile(file), file.bytes) ?? file.bytes,
      file.sealWith !== undefined,
    ],
  });
  const kept = await findFileOf(db, file);
  if (kept === undefined) throw new Error("a file was not kept");
  return kept;
}
