import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { z } from "zod";
import { ask } from "../../../schemas/nats/ask.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";

const SHARD = { answering: 1, silent: 2, deserted: 3, wrong: 4, garbled: 5 } as const;
const Sum = z.object({ sum: z.int() });

let nats: Nats;

beforeAll(async () => {
  nats = await connectNats({ url: inject("natsUrl"), name: "test", prefix: randomUUID() });
  const answerAt = (shard: number, answerTo: (question: string) => string): void => {
    nats.connection.subscribe(nats.subjects.clickQuery(shard), {
      callback: (_fault, message) => {
        message.respond(answerTo(message.string()));
      },
    });
  };
  answerAt(SHARD.answering, (question) =>
    JSON.stringify({
      sum: z
        .array(z.int())
        .parse(JSON.parse(question))
        .reduce((a, b) => a + b),
    }),
  );
  nats.connection.subscribe(nats.subjects.clickQuery(SHARD.silent), { callback: () => undefined });
  answerAt(SHARD.wrong, () => JSON.stringify({ product: 6 }));
  answerAt(SHARD.garbled, () => "six");
});
afterAll(() => nats.connection.close());

async function askShard(shard: number, timeoutMs: number, of = nats): Promise<unknown> {
  return await ask(of, {
    subject: ({ clickQuery }) => clickQuery(shard),
    body: [1, 2, 3],
    timeoutMs,
    answer: Sum,
  });
}

test("a question gets the answer of its listener", async () => {
  expect(await askShard(SHARD.answering, 10_000)).toEqual({ sum: 6 });
});

test("a missing listener is an outage, reported at once (P15)", async () => {
  const askedAtMs = performance.now();
  expect(await askShard(SHARD.deserted, 10_000)).toBeUndefined();
  expect(performance.now() - askedAtMs).toBeLessThan(5_000);
});

test("a late answer, a closed connection and a missing one are outages (P15)", async () => {
  expect(await askShard(SHARD.silent, 100)).toBeUndefined();
  const closed = await connectNats({ url: inject("natsUrl"), name: "test", prefix: nats.prefix });
  await closed.connection.close();
  expect(await askShard(SHARD.answering, 10_000, closed)).toBeUndefined();
  const question = { subject: () => "x", body: 1, timeoutMs: 10_000, answer: Sum };
  expect(await ask(undefined, question)).toBeUndefined();
});

test("an answer of an unexpected form is a fault, not an outage", async () => {
  await expect(askShard(SHARD.wrong, 10_000)).rejects.toThrow(z.ZodError);
  await expect(askShard(SHARD.garbled, 10_000)).rejects.toThrow(SyntaxError);
});
