import type { Queryable } from "../../schemas/postgres/connect.ts";

export type PasskeyRow = {
  id: number;
  person_id: number;
  name: string;
  credential_id: Buffer;
  public_key: Buffer;
  counter: number;
  transports: string[];
  created_at: string;
  last_used_at: string | null;
};

const COLUMNS =
  "id, person_id, name, credential_id, public_key, counter, transports, created_at, last_used_at";

export async function listPasskeys(db: Queryable, personId: number): Promise<PasskeyRow[]> {
  const { rows } = await db.query<PasskeyRow>({
    name: "list-passkeys",
    text: `select ${COLUMNS} from passkey where person_id = $1 order by id limit 100`,
    values: [personId],
  });
  return rows;
}

/** The passkey of an active person. */
export async function findPasskey(
  db: Queryable,
  credentialId: Buffer,
): Promise<PasskeyRow | undefined> {
  const { rows } = await db.query<PasskeyRow>({
    name: "find-passkey",
    text: `select ${COLUMNS} from passkey k
           where credential_id = $1 and exists (select from person p where p.id = k.person_id and p.status = 'active')`,
    values: [credentialId],
  });
  return rows[0];
}

export type NewPasskey = {
  readonly name: string;
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
};

/** Undefined if the credential is known, or the person has `max` of them. */
export async function insertPasskey(
  db: Queryable,
  personId: number,
  passkey: NewPasskey,
  max: number,
): Promise<PasskeyRow | undefined> {
  const { rows } = await db.query<PasskeyRow>({
    name: "insert-passkey",
    text: `insert into passkey (person_id, name, credential_id, public_key, counter, transports)
           select $1, $2, $3, $4, $5, $6 where (select count(*) from passkey where person_id = $1) < $7
           on conflict (credential_id) do nothing returning ${COLUMNS}`,
    values: [
      personId,
      passkey.name,
      passkey.credentialId,
      passkey.publicKey,
      passkey.counter,
      passkey.transports,
      max,
    ],
  });
  return rows[0];
}

/** False if the passkey is gone. */
export async function notePasskeyUse(db: Queryable, id: number, counter: number): Promise<boolean> {
  const { rows } = await db.query({
    name: "note-passkey-use",
    text: "update passkey set counter = $2, last_used_at = now() where id = $1 returning id",
    values: [id, counter],
  });
  return rows.length > 0;
}

/** False if the person has no such passkey. */
export async function deletePasskey(db: Queryable, personId: number, id: number): Promise<boolean> {
  const { rows } = await db.query({
    name: "delete-passkey",
    text: "delete from passkey where person_id = $1 and id = $2 returning id",
    values: [personId, id],
  });
  return rows.length > 0;
}
