import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import { withoutRows } from "../http/without-rows.ts";
import { claimMail, forgetMail, retryMail } from "../records/mail-outbox.ts";
import type { Mailer } from "./mailer.ts";

const LOOK_EVERY_MS = 1_000;

/**
 * Sends the mails that transactions have queued, one after the other. Several processes may do it. A mail is sent once, or once more if its process
 * died before it noted that the server had taken it.
 */
export class MailLoop {
  readonly #db: Pool;
  readonly #mailer: Pick<Mailer, "send">;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor({
    db,
    mailer,
    log,
  }: {
    readonly db: Pool;
    readonly mailer: Pick<Mailer, "send">;
    readonly log: Log;
  }) {
    this.#db = db;
    this.#mailer = mailer;
    this.#log = log;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends after the mail that is being sent. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if (!(await this.#sendNext()) && !this.#stop.signal.aborted)
        await pause(LOOK_EVERY_MS, this.#stop.signal);
    }
  }

  /** Whether there may be another one at once. */
  async #sendNext(): Promise<boolean> {
    try {
      const mail = await claimMail(this.#db);
      if (mail === undefined) return false;
      const { id, attempts, to, subject, text } = mail;
      try {
        await this.#mailer.send({ to, subject, text });
      } catch (error) {
        const isTriedAgain = await retryMail(this.#db, mail);
        const note = { err: error, mailId: id, attempts };
        if (isTriedAgain) this.#log.warn(note, "mail.not-sent");
        else this.#log.error(note, "mail.given-up");
        return true;
      }
      await forgetMail(this.#db, mail);
      return true;
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#log.warn({ err: withoutRows(error) }, "mails.not-looked-for");
      return false;
    }
  }
}
