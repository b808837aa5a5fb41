import type { Transporter } from "nodemailer";
import { z } from "zod";
import { isLoopbackHost } from "../../schemas/net/loopback-host.ts";
import type { Mail } from "../records/mail-outbox.ts";

/** SMTP_URL and MAIL_FROM. */
export type MailSettings = { readonly url: string; readonly from: string };

/** What an error of the library says without words of the server. */
const Reason = z.object({ code: z.string().optional(), responseCode: z.int().optional() });

const PATIENCE_MS = 5_000;
const UNDER_WAY_MAX = 20;

/**
 * Hands mails to the SMTP server of the installation. A mail with a one-time link is neither stored nor repeated: whoever waits for it asks again.
 * Any other mail is queued first (records/mail-outbox.ts).
 */
export class Mailer {
  readonly #settings: MailSettings;
  #transporter: Promise<Transporter> | undefined;
  #underWay = 0;

  constructor(settings: MailSettings) {
    this.#settings = settings;
  }

  /** Resolves when the server has taken the mail. @throws if it refuses it or takes too long, or twenty others are under way. */
  async send(mail: Mail): Promise<void> {
    if (this.#underWay >= UNDER_WAY_MAX) throw new Error("too many mails are under way");
    this.#underWay += 1;
    try {
      this.#transporter ??= openTransporter(this.#settings.url);
      const transporter = await this.#transporter;
      await transporter.sendMail({ ...mail, from: this.#settings.from });
    } catch (error) {
      // oxlint-disable-next-line eslint/preserve-caught-error -- its words name the recipient, whom no log may name
      throw new Error(`the mail server has not taken a mail: ${reasonOf(error)}`);
    } finally {
      this.#underWay -= 1;
    }
  }
}

/** The library is loaded only where mails are sent. */
async function openTransporter(url: string): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const { hostname } = new URL(url);
  return createTransport({
    url,
    // Whoever reads a mail can sign in with its link.
    requireTLS: !isLoopbackHost(hostname),
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
    dnsTimeout: PATIENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Such as "EENVELOPE 550". */
function reasonOf(error: unknown): string {
  const { code = "no code", responseCode = "" } = Reason.parse(error);
  return `${code} ${responseCode}`.trimEnd();
}
