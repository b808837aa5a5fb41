import { expect, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { metricAt } from "../../services/metric-at.ts";
import { ClickLoad, loadDifferences } from "../../system/click-load.ts";
import { ClickStream } from "../../system/click-stream.ts";
import { opsPortsOf } from "../../system/ops-ports.ts";
import { keepDown } from "../../system/processes.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { serversOf } from "../../system/servers-of.ts";
import { startSystem } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { until } from "../../system/until.ts";

const ROUNDS = IS_FULL ? 20 : 1;
const DELETED_PER_ROUND = 3;
/** Within this time a gap is noticed and filled again. */
const NOTICED_MS = 60_000;

const random = randomOf(SEED);

test("messages deleted from the stream raise an alarm and are sent again within 60 s (P11, #24)", async (context) => {
  await using system = await startSystem();
  await using stream = await ClickStream.open(system.dataDir);
  const { clickhouse } = await serversOf(system);
  const port = (await opsPortsOf(system)).get("processors") ?? 0;
  const holes = async (): Promise<number> => await metricAt(port, "clicks_holes_total");
  let [cases, violations] = [0, 0];
  const differences: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const load = new ClickLoad(system.client.demo.links.affiliate.replace(/\?.*/, ""));
    const from = await stream.lastSeq();
    // No process reads the stream now, so no writer sees the messages before they are deleted.
    const startAgain = await keepDown(system, "processors");
    const deleted: number[] = [];
    try {
      load.start(4);
      await until("clicks are in the stream", async () => (await stream.lastSeq()) >= from + 40, {
        timeoutMs: 90_000,
      });
      await load.stop();
      const messages = await settledMessages(stream, from);
      const last = messages.at(-1) ?? 0;
      // The very last message is special: none follows it that would show the gap.
      const chosen = [last, ...Array.from({ length: DELETED_PER_ROUND }, () => pick(messages))];
      for (const seq of new Set(chosen)) {
        await stream.delete(seq);
        deleted.push(seq);
      }
    } finally {
      startAgain();
    }
    const sinceMs = performance.now();
    const leftMs = (): number => Math.max(1, NOTICED_MS - (performance.now() - sinceMs));
    const isAlarmed = await happens(
      "the gap is counted",
      async () => (await holes()) > 0,
      leftMs(),
    );
    let found: string[] = [];
    await happens(
      "every answered click is stored once",
      async () => {
        found = loadDifferences(load, await storedClicks(clickhouse, load.run));
        return found.length === 0;
      },
      leftMs(),
    );
    if (!isAlarmed) differences.push(`round ${round}: no alarm for messages ${deleted.join(", ")}`);
    differences.push(...found);
    cases += load.answered.size;
    violations = differences.length;
  }
  reportCases(context, { cases, violations });
  expect(differences.slice(0, 10)).toEqual([]);
});

function pick(messages: readonly number[]): number {
  return messages[Math.floor(random() * messages.length)] ?? 0;
}

/** Messages with clicks since `from`, once no more arrive. Idle lanes keep sending empty messages, which do not count. */
async function settledMessages(stream: ClickStream, from: number): Promise<number[]> {
  const messages: number[] = [];
  let next = from + 1;
  await until(
    "the journal is shipped",
    async () => {
      const before = messages.length;
      for (const last = await stream.lastSeq(); next <= last; next += 1) {
        if ((await stream.recordsAt(next)) > 0) messages.push(next);
      }
      return messages.length > 0 && messages.length === before;
    },
    { pollMs: 500 },
  );
  return messages;
}

async function happens(
  what: string,
  condition: () => Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> {
  return await until(what, condition, { timeoutMs, pollMs: 250 }).then(
    () => true,
    () => false,
  );
}
