import { expect, test } from "vitest";
import { MailLoop } from "../../../../api/people/mail-loop.ts";
import { Mailer } from "../../../../api/people/mailer.ts";
import { queueMail } from "../../../../api/records/mail-outbox.ts";
import { openLog } from "../../../../schemas/host/log.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { openStores, Stores } from "../../../services/stores.ts";
import { MailServer } from "../../../system/mail-server.ts";
import { until } from "../../../system/until.ts";

const server = await forThisFile(MailServer.open());
const stores = await forThisFile(openStores({ label: "mails" }).then((parts) => new Stores(parts)));
const lines: string[] = [];
const log = openLog({ process: "api", level: "info" }, { write: (line) => void lines.push(line) });

/** As many processes as wanted, each with a loop. */
async function withLoops(count: number, work: () => Promise<void>): Promise<void> {
  const mailer = new Mailer({ url: server.url, from: "Tracker <tracker@first.example>" });
  const loops = Array.from({ length: count }, () => new MailLoop({ db: stores.pool, mailer, log }));
  for (const loop of loops) loop.start();
  try {
    await work();
  } finally {
    await Promise.all(loops.map((loop) => loop.close()));
  }
}

const mailTo = (to: string) => ({
  to,
  subject: "Your payment method has changed",
  text: "It has.",
});
const received = (to: string): number =>
  server.mails.filter((mail) => mail.includes(`To: ${to}`)).length;

async function waiting(): Promise<{ attempts: number; due_in: number }[]> {
  return await stores.rows(
    "select attempts, extract(epoch from due_at - now())::integer as due_in from mail_outbox where due_at > '-infinity' order by id",
  );
}

test("several processes send each mail once, and a change that is taken back sends none (N32)", async () => {
  await inTransaction(stores.pool, async (tx) => {
    for (let n = 0; n < 30; n += 1) await queueMail(tx, log, mailTo(`p${n}@first.example`));
  });
  await expect(
    inTransaction(stores.pool, async (tx) => {
      await queueMail(tx, log, mailTo("nobody@first.example"));
      throw new Error("refused");
    }),
  ).rejects.toThrow("refused");
  await withLoops(3, async () => {
    await until("no mail waits", async () => (await waitingRows()) === 0);
  });
  for (let n = 0; n < 30; n += 1) expect(received(`p${n}@first.example`)).toBe(1);
  expect(received("nobody@first.example")).toBe(0);
});

async function waitingRows(): Promise<number> {
  return (await stores.rows("select id from mail_outbox")).length;
}

test("a refused mail is given up after eight attempts, and no log has its address (P31)", async () => {
  const to = "refused@first.example";
  server.refusal = `no mailbox for ${to}`;
  await queueMail(stores.pool, log, mailTo(to));
  await withLoops(1, async () => {
    for (const [attempts, seconds] of [10, 60, 300, 1_800, 7_200, 21_600, 43_200].entries()) {
      await until(`attempt ${attempts + 1} has failed`, async () => {
        const [row] = await waiting();
        return row?.attempts === attempts + 1 && row.due_in > seconds - 10 && row.due_in <= seconds;
      });
      await stores.rows("update mail_outbox set due_at = now()");
    }
    await until("it is given up", async () => (await waitingRows()) === 0);
  });
  expect(received(to)).toBe(0);
  const text = lines.join("\n");
  expect(text).toContain("mail.given-up");
  expect(text).toContain("mail.not-sent");
  expect(text).not.toContain(to);
  server.refusal = undefined;
});

test("10,000 mails wait at most: a further one is dropped, and the log says so", async () => {
  await stores.rows(
    `insert into mail_outbox (recipient, subject, body, due_at)
     select 'x@first.example', 's', 't', 'infinity' from generate_series(1, 9999)`,
  );
  const before = lines.length;
  await queueMail(stores.pool, log, mailTo("last@first.example"));
  expect(lines).toHaveLength(before);
  await queueMail(stores.pool, log, mailTo("dropped@first.example"));
  expect(lines.slice(before).join("\n")).toContain("mail.not-queued");
  expect(await waitingRows()).toBe(10_000);
  await stores.rows("delete from mail_outbox");
});
