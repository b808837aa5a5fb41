import type { Log } from "../../schemas/host/log.ts";
import type { LaterMail, MailSender } from "../operation/operation.ts";

/** The mails of one request. They go out once it has succeeded: a refused change is told to nobody. */
export class LaterMails {
  readonly #mails = new Map<string, LaterMail>();

  /** A transaction that is tried again adds the same mail under the same name. */
  add(name: string, mail: LaterMail): void {
    this.#mails.set(name, mail);
  }

  /** Nobody waits for them: a process that dies has told nobody, and the change log has it. */
  send(mailer: MailSender, log: Log): void {
    for (const mail of this.#mails.values())
      mailer.send(mail).catch((error: unknown) => {
        log.warn({ err: error }, "mail.not-sent");
      });
  }
}
