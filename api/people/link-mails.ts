import type { Log } from "../../schemas/host/log.ts";
import type { Mail, Mailer } from "./mailer.ts";

const WORDS_MAX = 200;

type Invited = {
  readonly email: string;
  readonly workspace: string;
  readonly inviter: string;
  readonly link: string;
};

export function invitationMail({ email, workspace, inviter, link }: Invited): Mail {
  const [where, who] = [oneLine(workspace), oneLine(inviter)];
  return {
    to: email,
    subject: `Invitation to ${where}`,
    text: `${who} invites you to ${where}.\n\nOpen this link to join. It works once, within 7 days:\n\n${link}\n`,
  };
}

export function resetMail({
  email,
  link,
}: {
  readonly email: string;
  readonly link: string;
}): Mail {
  return {
    to: email,
    subject: "A new password",
    text: `Open this link to choose a new password. It works once, within an hour:\n\n${link}\n\nIf you have not asked for it, nothing has changed: ignore this mail.\n`,
  };
}

/** Whether the SMTP server has taken the mail. Null without a server. The caller shows the link anyway, so a failure is only logged. */
export async function mailed(
  mailer: Mailer | undefined,
  mail: Mail,
  log: Log,
): Promise<boolean | null> {
  if (mailer === undefined) return null;
  try {
    await mailer.send(mail);
    return true;
  } catch (error) {
    log.warn({ err: error }, "mail.not-sent");
    return false;
  }
}

/** Names are chosen by people: no line of theirs looks like one of ours. */
function oneLine(words: string): string {
  return words.replaceAll(/\s+/g, " ").trim().slice(0, WORDS_MAX);
}
