import type { Log } from "../../schemas/host/log.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { type Mail, queueMail } from "../records/mail-outbox.ts";
import { mintLinkToken } from "./links.ts";
import type { Mailer } from "./mailer.ts";
import type { VisitorContext } from "./people-context.ts";

const WORDS_MAX = 200;

/** The tokens of a link that its maker is shown. */
export type MadeTokens = { readonly shown: string; readonly mailed: string | undefined };

/** With a mail server, the mail gets a token of its own. */
export function mintTokens(mailer: Mailer | undefined): MadeTokens {
  return { shown: mintLinkToken(), mailed: mailer && mintLinkToken() };
}

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

/** What has happened to an account that existed before. */
export type Change = {
  readonly email: string;
  /** Such as "a link that Jane has made". */
  readonly by: string;
  /** Default: false. */
  readonly keepsCodes?: boolean;
  /** Default: a new one. */
  readonly password?: "none";
};

/** Queues a mail to the owner, in the transaction of the change, because somebody else may have made it. */
export async function mailChange(
  tx: Queryable,
  { people, settings, log }: Pick<VisitorContext, "people" | "settings" | "log">,
  change: Change,
): Promise<void> {
  if (people.parts.mailer === undefined) return;
  await queueMail(tx, log, changeMail(change, settings.apiUrl));
}

function changeMail({ email, by, keepsCodes = false, password }: Change, apiUrl: string): Mail {
  const has = password === "none" ? "no password any more" : "a new password";
  const codes = keepsCodes
    ? "The codes of your authenticator are still asked for."
    : 'The codes of an authenticator have ended as well. Set up what you need again under "You".';
  return {
    to: email,
    subject: "Your ways to sign in have changed",
    text: `Your account has ${has}, by ${oneLine(by)}.\n\nIts sessions, its passkeys, its earlier connection to an identity provider and the links that were made with it have ended. ${codes}\n\nIf this was not you, choose a new password at ${apiUrl}/console/ and tell an admin of your workspace.\n`,
  };
}

/**
 * Whether the SMTP server has taken the mail with this token. Null without a server. The caller shows another token anyway, so a failure is
 * only logged.
 */
export async function mailed(
  mailer: Mailer | undefined,
  log: Log,
  token: string | undefined,
  mailWith: (token: string) => Mail,
): Promise<boolean | null> {
  if (mailer === undefined || token === undefined) return null;
  try {
    await mailer.send(mailWith(token));
    return true;
  } catch (error) {
    log.warn({ err: error }, "mail.not-sent");
    return false;
  }
}

/** People choose names: no name may contain a line that looks like ours. */
function oneLine(words: string): string {
  return words.replaceAll(/\s+/g, " ").trim().slice(0, WORDS_MAX);
}
