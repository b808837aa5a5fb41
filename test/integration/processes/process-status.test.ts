import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import type { Facts } from "../../../schemas/host/ops-server.ts";
import { answerStatus, askProcesses } from "../../../schemas/installation/process-status.ts";
import { connectNats, type Nats } from "../../../schemas/nats/connect.ts";
import { fastestMs } from "../../samples/fastest-ms.ts";
import { testLog } from "../../services/stores.ts";

let prefix: string;
let asker: Nats;
const open: Nats[] = [];

async function connected(): Promise<Nats> {
  const nats = await connectNats({ url: inject("natsUrl"), name: "test", prefix });
  open.push(nats);
  return nats;
}

beforeEach(async () => {
  prefix = randomUUID();
  asker = await connected();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ connection }) => connection.close()));
});

function statusOf(id: string, more: Facts = {}): Facts {
  const release = { version: "0.1.0", commit: "abc", uptime_ms: 5, stage: "running", ready: true };
  return { role: "ingress", process_id: id, name: id, host: "h", ...release, ...more };
}

async function answering(...statuses: Facts[]): Promise<void> {
  for (const status of statuses) {
    const nats = await connected();
    answerStatus(nats, () => status, testLog());
    await nats.connection.flush();
  }
}

async function idsAsked(expected: readonly string[]): Promise<string[]> {
  const answers = await askProcesses(asker, new Set(expected));
  return answers.map(({ process_id }) => process_id).sort();
}

test("every process answers with its facts, and the question ends once all have answered", async () => {
  await answering(statusOf("a", { records_taken: 7 }), statusOf("b"));
  const ask = async () => await askProcesses(asker, new Set(["a", "b"]));
  const answers = await ask();
  expect(await fastestMs(900, ask)).toBeLessThan(900);
  expect(answers.toSorted((x, y) => x.name.localeCompare(y.name))).toEqual([
    statusOf("a", { records_taken: 7 }),
    statusOf("b"),
  ]);
});

test("a process that is dead delays the answers of the others by a second at most", async () => {
  await answering(statusOf("a"));
  const ask = async () => expect(await idsAsked(["a", "dead"])).toEqual(["a"]);
  expect(await fastestMs(3_000, ask)).toBeLessThan(3_000);
});

test("without processes there are no answers, and no wait", async () => {
  const ask = async () => expect(await idsAsked(["a"])).toEqual([]);
  expect(await fastestMs(900, ask)).toBeLessThan(900);
});

test("a newer process is not left out for a fact of another form (P39)", async () => {
  const facts = { lanes: [1, 2], next: { deep: true } };
  await answering(Object.assign(statusOf("newer", { records_taken: 7 }), facts));
  expect(await askProcesses(asker, new Set(["newer"]))).toEqual([
    { ...statusOf("newer", { records_taken: 7 }), lanes: null, next: null },
  ]);
});

test("answers that are too large, of another form or garbled are left out", async () => {
  await answering(
    statusOf("a"),
    statusOf("large", { why: "x".repeat(17_000) }),
    statusOf("wrong", { stage: "asleep" }),
    statusOf("nameless", { name: null }),
  );
  const garbled = await connected();
  garbled.connection.subscribe(garbled.subjects.processStatus, {
    callback: (_, message) => {
      message.respond("{");
    },
  });
  await garbled.connection.flush();
  expect(await idsAsked([])).toEqual(["a"]);
});

test("without NATS the question fails instead of counting nobody", async () => {
  await asker.connection.close();
  await expect(askProcesses(asker, new Set())).rejects.toThrow(/clos/i);
});
