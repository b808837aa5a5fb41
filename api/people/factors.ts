import { hash, randomInt } from "node:crypto";
import type { Queryable } from "../../schemas/postgres/connect.ts";

/** Without letters and digits that look alike. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const CODE_CHARACTERS = 12;
const GROUP_CHARACTERS = 4;
const CODES = 10;

type TotpRow = { sealed: Buffer; is_confirmed: boolean };

export async function findTotp(db: Queryable, personId: number): Promise<TotpRow | undefined> {
  const { rows } = await db.query<TotpRow>({
    name: "find-totp",
    text: "select sealed, confirmed_at is not null as is_confirmed from totp where person_id = $1",
    values: [personId],
  });
  return rows[0];
}

/** Replaces a TOTP that was not confirmed. False if one is in use. */
export async function insertTotp(
  db: Queryable,
  personId: number,
  sealed: Buffer,
): Promise<boolean> {
  const { rows } = await db.query({
    name: "insert-totp",
    text: `insert into totp as t (person_id, sealed) values ($1, $2)
           on conflict (person_id) do update set sealed = excluded.sealed, last_step = 0 where t.confirmed_at is null
           returning person_id`,
    values: [personId, sealed],
  });
  return rows.length > 0;
}

/** Notes the step whose code was given. False if a code of this step or a later one has counted already. */
export async function useTotpStep(db: Queryable, personId: number, step: number): Promise<boolean> {
  const { rows } = await db.query({
    name: "use-totp-step",
    text: `update totp set last_step = $2, confirmed_at = coalesce(confirmed_at, now())
           where person_id = $1 and last_step < $2 returning person_id`,
    values: [personId, step],
  });
  return rows.length > 0;
}

/** Removes the second factor together with its recovery codes. False if there was none. */
export async function deleteTotp(db: Queryable, personId: number): Promise<boolean> {
  const { rows } = await db.query({
    name: "delete-totp",
    text: `with codes as (delete from recovery_code where person_id = $1)
           delete from totp where person_id = $1 returning person_id`,
    values: [personId],
  });
  return rows.length > 0;
}

/** New recovery codes; older ones count no more. Only the answer has them. */
export async function replaceRecoveryCodes(db: Queryable, personId: number): Promise<string[]> {
  const codes = Array.from({ length: CODES }, mintRecoveryCode);
  await db.query({
    name: "delete-recovery-codes",
    text: "delete from recovery_code where person_id = $1",
    values: [personId],
  });
  await db.query({
    name: "insert-recovery-codes",
    text: "insert into recovery_code (person_id, code_hash) select $1, unnest($2::bytea[])",
    values: [personId, codes.map(hashOfCode)],
  });
  return codes;
}

/** False if the code is unknown or was used. */
export async function useRecoveryCode(
  db: Queryable,
  personId: number,
  code: string,
): Promise<boolean> {
  const { rows } = await db.query({
    name: "use-recovery-code",
    text: `update recovery_code set used_at = now()
           where person_id = $1 and code_hash = $2 and used_at is null returning person_id`,
    values: [personId, hashOfCode(code)],
  });
  return rows.length > 0;
}

function mintRecoveryCode(): string {
  const characters = Array.from(
    { length: CODE_CHARACTERS },
    () => ALPHABET[randomInt(ALPHABET.length)],
  ).join("");
  return characters.replaceAll(new RegExp(`(.{${GROUP_CHARACTERS}})(?=.)`, "g"), "$1-");
}

/** Case, spaces and dashes do not matter. 59 bits, and guesses are throttled. */
function hashOfCode(code: string): Buffer {
  return hash("sha256", code.toLowerCase().replaceAll(/[\s-]/g, ""), "buffer");
}
