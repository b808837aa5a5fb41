import type { LaterMail, MailSender, RequestContext } from "../operation/operation.ts";

/**
 * A context whose mails go out once the request has succeeded: a refused change is told to nobody. Nobody waits for them: a process that dies has
 * told nobody, and the change log has it.
 */
export function withMails(
  context: RequestContext,
  mailer: MailSender | undefined,
): { readonly context: RequestContext; readonly sendMails: () => void } {
  if (mailer === undefined) return { context, sendMails: () => undefined };
  // A transaction that is tried again adds the same mail under the same name.
  const mails = new Map<string, LaterMail>();
  return {
    context: { ...context, mailAfter: (name, mail) => void mails.set(name, mail) },
    sendMails: () => {
      for (const mail of mails.values())
        mailer.send(mail).catch((error: unknown) => {
          context.log.warn({ err: error }, "mail.not-sent");
        });
    },
  };
}
