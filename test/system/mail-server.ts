import { SMTPServer } from "smtp-server";
import { z } from "zod";

const Address = z.looseObject({ port: z.int() });

/** An SMTP server on this machine that keeps what it gets. */
export class MailServer {
  /** Whole messages, decoded as far as plain text needs it. */
  readonly mails: string[] = [];
  /** Answered to every mail instead of taking it. */
  refusal: string | undefined;
  readonly #server: SMTPServer;
  readonly url: string;

  private constructor(server: SMTPServer, port: number) {
    this.#server = server;
    this.url = `smtp://127.0.0.1:${port}`;
  }

  static async open(): Promise<MailServer> {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS"],
      onData: (stream, _session, taken) => {
        const parts: Buffer[] = [];
        stream.on("data", (part: Buffer) => parts.push(part));
        stream.on("end", () => {
          if (opened.refusal !== undefined) {
            taken(new Error(opened.refusal));
            return;
          }
          const text = Buffer.concat(parts).toString("utf8");
          opened.mails.push(text.replaceAll("=\r\n", "").replaceAll("=3D", "="));
          taken();
        });
      },
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const opened = new MailServer(server, Address.parse(server.server.address()).port);
    return opened;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}
