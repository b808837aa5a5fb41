import type { Log } from "../../schemas/host/log.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";

export type Mail = { readonly to: string; readonly subject: string; readonly text: string };

/** A mail that this process sends now. `attempts` counts this one. */
export type ClaimedMail = Mail & { readonly id: string; readonly attempts: number };

/** Mails that wait. Beyond it new ones are dropped: a server that is away for long must not fill the database. */
const MAILS_MAX = 10_000;
/** Longer than a mail server may take: after it the mail of a process that died is sent by another. */
const LEASE_SECONDS = 30;
/** Seconds between the attempts. After the last one the mail is given up: together some 20 hours. */
const RETRY_SECONDS = [10, 60, 300, 1_800, 7_200, 21_600, 43_200];

/**
 * Queues a mail in the transaction of the change that it is about: both are committed or neither is. It is stored until it is sent, so it must
 * not contain a link that signs in. If too many wait already, it is dropped and the log says so.
 */
export async function queueMail(tx: Queryable, log: Log, mail: Mail): Promise<void> {
  const { rowCount } = await tx.query({
    name: "queue-mail",
    text: `insert into mail_outbox (recipient, subject, body)
           select $1, $2, $3 where (select count(*) from (select from mail_outbox limit $4) m) < $4`,
    values: [mail.to, mail.subject, mail.text, MAILS_MAX],
  });
  if (rowCount === 0) log.error({ waiting: MAILS_MAX }, "mail.not-queued");
}

/** The mail that is due first; no other process sends it meanwhile. */
export async function claimMail(db: Queryable): Promise<ClaimedMail | undefined> {
  const { rows } = await db.query<ClaimedMail>({
    name: "claim-mail",
    text: `update mail_outbox m set attempts = m.attempts + 1, due_at = clock_timestamp() + make_interval(secs => $1)
           where m.id = (select o.id from mail_outbox o where o.due_at <= now() order by o.due_at, o.id limit 1 for update skip locked)
           returning m.id::text, m.attempts, m.recipient as "to", m.subject, m.body as text`,
    values: [LEASE_SECONDS],
  });
  return rows[0];
}

/** The server has taken it, or it is given up. */
export async function forgetMail(db: Queryable, { id }: ClaimedMail): Promise<void> {
  await db.query({
    name: "forget-mail",
    text: "delete from mail_outbox where id = $1::bigint",
    values: [id],
  });
}

/** The server has not taken it. False if that was the last attempt, and then it is forgotten. */
export async function retryMail(db: Queryable, mail: ClaimedMail): Promise<boolean> {
  const seconds = RETRY_SECONDS[mail.attempts - 1];
  if (seconds === undefined) {
    await forgetMail(db, mail);
    return false;
  }
  await db.query({
    name: "retry-mail",
    text: `update mail_outbox set due_at = clock_timestamp() + make_interval(secs => $2)
           where id = $1::bigint and attempts = $3`,
    values: [mail.id, seconds, mail.attempts],
  });
  return true;
}
