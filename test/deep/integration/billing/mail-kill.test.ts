import { createServer, type Server } from "node:net";
import { expect, test } from "vitest";
import { z } from "zod";
import { ApiWorld, record } from "../../../integration/api/api-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { ChildServer } from "../../../system/child-server.ts";
import { MailServer } from "../../../system/mail-server.ts";
import { nodeProgram } from "../../../system/service-program.ts";
import { freePort } from "../../../system/start-system.ts";
import { until } from "../../../system/until.ts";

const world = await forThisFile(ApiWorld.open());
const { admin: key } = world.tenant.keys;
const EMAIL = "anna@partner.example";
/** Longer than the lease of a mail, which a killed process holds. */
const WITHIN_MS = 120_000;

/** A mail server that takes connections and never says a word. */
async function silentServer(): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = z.object({ port: z.int() }).parse(server.address());
  return { server, url: `smtp://127.0.0.1:${port}` };
}

async function startApi(smtpUrl: string): Promise<ChildServer> {
  const port = await freePort();
  return await ChildServer.start(nodeProgram("api"), `http://127.0.0.1:${port}/health`, {
    ...world.env,
    API_PORT: String(port),
    SMTP_URL: smtpUrl,
    MAIL_FROM: "Tracker <tracker@first.example>",
  });
}

async function changePayment(api: ChildServer, id: number, iban: string): Promise<void> {
  const answer = await fetch(new URL(`/api/v1/affiliates/${id}/payment-method`, api.url), {
    method: "PUT",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      payment_method: "wire",
      payment_details: { holder: "Anna", iban },
    }),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

async function waiting(): Promise<number> {
  const [row] = await world.rows<{ count: number }>(
    "select count(*)::integer as count from mail_outbox",
  );
  return row?.count ?? -1;
}

test("a mail about a change of payment details outlives a kill before and while it is sent (N32, P21)", async () => {
  const id = Number(record(await world.post("/affiliates", { name: "Anna", email: EMAIL })).id);
  const silent = await silentServer();
  const mails = await MailServer.open();
  try {
    const first = await startApi(silent.url);
    const connected = new Promise((resolve) => silent.server.once("connection", resolve));
    await changePayment(first, id, "DE89370400440532013000");
    await connected;
    // One mail is being sent, and the next one waits behind it.
    await changePayment(first, id, "GB29NWBK60161331926819");
    expect(await first.end("SIGKILL")).toBeNull();
    expect(first.output).not.toContain(EMAIL);
    expect(await waiting()).toBe(2);
    const second = await startApi(mails.url);
    await until("both mails have arrived and none waits", async () => (await waiting()) === 0, {
      timeoutMs: WITHIN_MS,
    });
    expect(mails.mails.filter((mail) => mail.includes(`To: ${EMAIL}`))).toHaveLength(2);
    expect(await second.end()).toBe(0);
    expect(second.output).not.toContain(EMAIL);
  } finally {
    silent.server.close();
    await mails.close();
  }
}, 180_000);
