import { expect, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { findProcesses } from "../../system/processes.ts";
import type { ServiceClient } from "../../system/service.ts";
import { startSystem } from "../../system/start-system.ts";

const PAIRS = IS_FULL ? 10_000 : 600;
const SENDERS = 8;

test("a click can convert right after its answer, even while ClickHouse hangs (P12)", async (context) => {
  await using system = await startSystem();
  const refused = await convertAtOnce(system.client, PAIRS);
  reportCases(context, { cases: PAIRS, violations: refused.length });
  expect(refused).toEqual([]);
  const [engine = 0] = await findProcesses(system.dataDir, "clickhouse");
  process.kill(engine, "SIGSTOP");
  try {
    const refusedDuring = await convertAtOnce(system.client, PAIRS);
    reportCases(context, { cases: PAIRS, violations: refusedDuring.length });
    expect(refusedDuring).toEqual([]);
  } finally {
    process.kill(engine, "SIGCONT");
  }
});

/** Clicks and converts `pairs` times. Returns the answer of every postback that was not approved. */
async function convertAtOnce(client: ServiceClient, pairs: number): Promise<string[]> {
  const refused: string[] = [];
  const link = client.demo.links.affiliate.replace(/\?.*/, "");
  const sender = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += 1) {
      const click = await client.attempt(link, {
        "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0",
      });
      const clickId = /trk_cid=([0-9a-f]{32})/.exec(String(click.headers["set-cookie"]))?.[1] ?? "";
      const answer = await client.attempt(
        `${client.demo.tracking_url}/pb?token=${client.demo.postback_token}&click_id=${clickId}`,
      );
      if (answer.status !== 200 || !answer.body.includes('"approved"'))
        refused.push(`HTTP ${answer.status} ${answer.body}`);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, () => sender(pairs / SENDERS)));
  return refused;
}
