import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { DEMO_STREAMS } from "../../../ingress/demo/demo-streams.ts";
import { PlannedMonth } from "../../../ingress/demo/plan-month.ts";
import { DAY_MS } from "../../../ingress/demo/plan-traffic.ts";
import { openGeo } from "../../../ingress/request/geo.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { formatDay } from "../../../schemas/time/calendar.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { testLog } from "../../services/stores.ts";
import { SEED } from "../../system/seed.ts";
import { serversOf } from "../../system/servers-of.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const FILLED_MS = 240_000;
const TEST_MS = 420_000;
const DAYS = 30;
const WITH_TRAFFIC = { DEMO_TRAFFIC: "1" };

const Day = z.looseObject({ date: z.string(), clicks: z.number() });
const Totals = z.record(z.string(), z.union([z.number(), z.string(), z.null()]));
const Report = z.object({ data: z.array(Day), totals: Totals });
const METRICS =
  "impressions,clicks,unique_clicks,bot_clicks,conversions,pending_conversions,rejected_conversions,revenue,payout,ad_cost";

/** Making the month takes most of the time, so CI makes it once: one test with an even seed, the other one with an odd seed. */
const TESTS = [
  [
    "a first start gives the demo a month of traffic, audits find no fault, the next start adds none",
    expectMonthWithoutFault,
  ],
  [
    "after a kill in the middle the next start makes the missing parts, and no part twice",
    expectMonthAfterKill,
  ],
] as const;
const chosen = TESTS.filter((_, index) => IS_FULL || index === SEED % TESTS.length);
for (const [name] of TESTS.filter((one) => !chosen.includes(one)))
  process.stderr.write(`demo traffic: ${name}: not with seed ${SEED}\n`);

test.for(chosen)("%s", { timeout: TEST_MS }, async ([, expectMonth]) => {
  await expectMonth();
});

async function expectMonthWithoutFault(): Promise<void> {
  await using first = await startSystem({ env: WITH_TRAFFIC });
  const endMs = endOfMonth(first);
  await untilFilled(first);
  const { data, totals } = await readReport(first, endMs);
  // The last day may have begun a minute before the month ends.
  const whole = data.filter(({ date }) => date < dayOf(endMs));
  expect(whole).toHaveLength(DAYS - 1);
  for (const { date, clicks } of whole) expect(clicks, date).toBeGreaterThan(100);
  for (const metric of METRICS.split(","))
    expect(Number(totals[metric]), metric).toBeGreaterThan(0);
  expect(Number(totals["unique_clicks"])).toBeLessThan(Number(totals["clicks"]));
  expect(await audit(first)).not.toContain("differ");
  expect(await first.client.rest("/billing/audit")).toMatchObject({ data: { violations: [] } });
  const { postgres } = await serversOf(first);
  const pool = openPool({ url: postgres, applicationName: "test" });
  const { rows } = await pool.query<{ reason: string }>({
    text: "select distinct status_reason as reason from conversion order by 1",
  });
  const { rows: deliveries } = await pool.query({ text: "select from delivery limit 1" });
  await pool.end();
  const reasons = rows.map(({ reason }) => reason);
  for (const reason of ["", "duplicate", "hold", "postback_reversal", "postback_update"])
    expect(reasons).toContain(reason);
  expect(reasons.some((reason) => reason.startsWith("fraud:"))).toBe(true);
  expect(deliveries).toEqual([]);
  expect(await first.stop()).toBe(0);
  await using second = await startSystem({ dataDir: first.dataDir, env: WITH_TRAFFIC });
  expect(second.output()).not.toContain("month of traffic");
  expect(second.output()).not.toContain("closed months");
  expect((await readReport(second, endMs)).totals["clicks"]).toBe(totals["clicks"]);
}

async function expectMonthAfterKill(): Promise<void> {
  await using first = await startSystem({ env: WITH_TRAFFIC });
  const begun = await until("the second part begins", () => begunParts(first, 2), {
    timeoutMs: FILLED_MS,
  });
  const endMs = endOfMonth(first);
  first.launcher.kill("SIGKILL");
  await using second = await startSystem({ dataDir: first.dataDir, env: WITH_TRAFFIC });
  await untilFilled(second);
  const { data } = await readReport(second, endMs);
  const made = new Map(data.map(({ date, clicks }) => [date, clicks]));
  const month = new PlannedMonth(endMs, await openGeo({}, { log: testLog() }));
  for (let part = 0; part < month.parts; part += 1) {
    for (const [date, clicks] of clicksByDay(month, part)) {
      const found = made.get(date) ?? 0;
      // The kill may have cut this part short.
      const least = part === begun - 1 ? 0 : clicks;
      expect([date, found >= least, found <= clicks]).toEqual([date, true, true]);
    }
  }
}

async function untilFilled(system: System): Promise<void> {
  await until(
    "the month of traffic and its books are complete",
    () => system.output().includes("Two closed months: "),
    { timeoutMs: FILLED_MS },
  );
}

/** The report leaves out the clicks by which a test waits for the service: they have no source. */
async function readReport({ client }: System, endMs: number): Promise<z.infer<typeof Report>> {
  const days = `from=${dayOf(endMs - (DAYS - 1) * DAY_MS)}&to=${dayOf(endMs)}`;
  const sources = DEMO_STREAMS.map(({ link }) => /[?&]ts=(\w+)/.exec(link)?.[1] ?? "");
  const filter = `traffic_source:in:${[...new Set(sources)].join("|")}`;
  const query = `${days}&group_by=date&metrics=${METRICS}&filters=${filter}`;
  return Report.parse(await client.rest(`/reports?${query}`));
}

async function audit({ dataDir }: System): Promise<string> {
  const program = projectFile(".build", "api", "tracker.js");
  const { stdout } = await promisify(execFile)(process.execPath, [program, "audit"], {
    env: { ...process.env, DATA_DIR: dataDir },
  });
  return stdout;
}

function begunParts({ dataDir }: System, least: number): number | undefined {
  try {
    const { begun } = z
      .object({ begun: z.int() })
      .parse(JSON.parse(readFileSync(join(dataDir, "demo-traffic.json"), "utf8")));
    return begun >= least ? begun : undefined;
  } catch {
    // Not written yet.
    return undefined;
  }
}

/** Known until the month is complete. */
function endOfMonth({ dataDir }: System): number {
  const text = readFileSync(join(dataDir, "installation.json"), "utf8");
  return z.object({ traffic_until_ms: z.int() }).parse(JSON.parse(text)).traffic_until_ms;
}

function clicksByDay(month: PlannedMonth, part: number): Map<string, number> {
  const days = new Map<string, number>();
  for (const { atMs, isImpression } of month.planPart(part).visits) {
    if (isImpression) continue;
    const day = dayOf(atMs);
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  return days;
}

function dayOf(atMs: number): string {
  return formatDay(Math.floor(atMs / DAY_MS));
}
