import { expect, type TestContext, test } from "vitest";
import { insertKey } from "../../../api/access/insert-key.ts";
import { ADVERTISER_TOKEN } from "../../integration/conversions/tracking-world.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { FLEET_ROLES, type FleetRole, MixedFleet } from "../../system/mixed-fleet.ts";
import {
  nextRelease,
  type Release,
  releasedArchive,
  thisRelease,
  unpackRelease,
} from "../../system/release-copy.ts";
import { ReportLoad } from "../../system/report-load.ts";
import { RollingLoad } from "../../system/rolling-load.ts";
import { until } from "../../system/until.ts";

/** There and back. */
const ROUNDS = IS_FULL ? 2 : 1;
/** Processes of each role. A replacement is one process more, so that also in CI both releases share the work of each role. */
const PROCESSES = IS_FULL ? 2 : 1;
/** What each mixture of releases must have served before the next process is replaced. */
const CLICKS_EACH = IS_FULL ? 4_000 : 40;
const REPORTS_EACH = IS_FULL ? 60 : 4;
/** The loads also run while the processes start, which then take longer. */
const CLICKS_PER_SECOND = IS_FULL ? Number.POSITIVE_INFINITY : 40;
const REPORT_PAUSE_MS = IS_FULL ? 20 : 200;
const PATIENCE = { timeoutMs: 60_000, pollMs: 20 };
/** Resets of new connections, on a kernel that does not hand them over. About one of 100 closes resets a connection. */
const RESETS_MAX = 3;
const EXIT_OTHER_SCHEMA = 3;
/** All ingress processes, by their names. */
const OLD_INGRESS_RUN = new RegExp(
  `such processes run: ${Array.from({ length: PROCESSES }, () => String.raw`ingress-\d+ on `).join(".*, ")}`,
);

const BACKWARDS = FLEET_ROLES.toReversed();

/** Starts a fleet of `before` under load, and replaces it by `next` and back as often as this run asks. Returns the load, which goes on. */
async function goForwardAndBack(
  fleet: MixedFleet,
  before: Release,
  next: Release,
): Promise<Awaited<ReturnType<typeof startLoads>>> {
  const offerId = await fleet.world.addOffer();
  for (const role of FLEET_ROLES)
    for (let i = 0; i < PROCESSES; i += 1) await fleet.start(role, before);
  const loads = await startLoads(fleet, offerId);
  await served(loads);
  expect(await fleet.tracker(next, "migrate")).toMatchObject({ code: 0 });
  for (let round = 0; round < ROUNDS; round += 1) {
    // The second round turns the order about, so that also a new ingress meets old processors.
    const order = round % 2 === 0 ? FLEET_ROLES : BACKWARDS;
    await replaceAll(fleet, next, { order, loads });
    // A rollback runs the older release's own `migrate`, which leaves the schema as it is.
    expect(await fleet.tracker(before, "migrate")).toMatchObject({ code: 0 });
    await replaceAll(fleet, before, { order: order.toReversed(), loads });
  }
  return loads;
}

test("two releases run side by side, forward and back, and lose, double and fail nothing (P39)", async (context) => {
  const before = thisRelease();
  using next = nextRelease();
  await using fleet = await MixedFleet.open();
  const loads = await goForwardAndBack(fleet, before, next);
  await replaceAll(fleet, next, { order: ["api", "processors"], loads });
  const early = await fleet.tracker(next, "migrate", "--contract");
  expect(early.code).toBe(1);
  expect(early.output).toMatch(OLD_INGRESS_RUN);
  await replaceAll(fleet, next, { order: ["ingress"], loads });

  expect(await fleet.tracker(next, "migrate", "--contract")).toMatchObject({ code: 0 });
  await served(loads);
  await Promise.all([loads.clicks.stop(), loads.reports.stop()]);
  await expectNothingLost(context, fleet, loads);
  for (const role of FLEET_ROLES)
    expect(await fleet.exitCodeOf(role, before), role).toBe(EXIT_OTHER_SCHEMA);
});

const archive = releasedArchive();
if (archive === undefined)
  process.stderr.write(
    "skipped: P39 with the last release: .release/ has no archive (npm run release, or RELEASE_ARCHIVE)\n",
  );

test.skipIf(archive === undefined)(
  "the last release and this one run side by side, forward and back, and lose nothing (P39)",
  async (context) => {
    using before = unpackRelease(archive ?? "");
    // A checkout keeps the version of the release before it.
    const next = { ...thisRelease(), version: "this checkout" };
    await using fleet = await MixedFleet.open();
    const loads = await goForwardAndBack(fleet, before, next);
    await replaceAll(fleet, next, { order: FLEET_ROLES, loads });
    await Promise.all([loads.clicks.stop(), loads.reports.stop()]);
    await expectNothingLost(context, fleet, loads);
  },
);

type Loads = { readonly run: string; readonly clicks: RollingLoad; readonly reports: ReportLoad };

async function startLoads(fleet: MixedFleet, offerId: number): Promise<Loads> {
  const { world, trackingPort } = fleet;
  const run = `mixed${Date.now().toString(36)}`;
  const clicks = new RollingLoad(trackingPort, run, CLICKS_PER_SECOND);
  const reports = new ReportLoad({
    clicks,
    run,
    trackingPort,
    token: ADVERTISER_TOKEN,
    apiPorts: () => fleet.apiPorts,
    apiKey: await insertKey(world.pool, {
      workspaceId: world.workspaceId,
      name: "admin",
      role: "admin",
    }),
    offerId,
    affiliateId: world.affiliateId,
    pauseMs: REPORT_PAUSE_MS,
  });
  clicks.start();
  reports.start();
  return { run, clicks, reports };
}

/** Waits until the processes that run now have served enough of everything. */
async function served({ clicks, reports }: Loads): Promise<void> {
  const [clicked, reported] = [clicks.answered.size, reports.reported.size];
  const [created, read] = [reports.created.length, reports.read];
  await until(
    "the mixture of releases has served",
    () =>
      clicks.failures.length + reports.failures.length > 0 ||
      (clicks.answered.size >= clicked + CLICKS_EACH &&
        reports.reported.size >= reported + REPORTS_EACH &&
        reports.created.length > created &&
        reports.read > read),
    PATIENCE,
  );
  expect([...clicks.failures, ...reports.failures].slice(0, 10)).toEqual([]);
}

/** Replaces one process after the other; each mixture of releases serves for a while. */
async function replaceAll(
  fleet: MixedFleet,
  release: Release,
  { order, loads }: { readonly order: readonly FleetRole[]; readonly loads: Loads },
): Promise<void> {
  for (const role of order) {
    for (let i = 0; i < PROCESSES; i += 1) {
      await fleet.start(role, release);
      // With one process of each role, both releases run only until the older process ends.
      if (PROCESSES === 1) await served(loads);
      expect(await fleet.endOther(role, release), role).toBe(0);
      await served(loads);
    }
    expect(new Set(fleet.releasesOf(role))).toEqual(new Set([release.version]));
  }
}

async function expectNothingLost(
  context: TestContext,
  { world }: MixedFleet,
  { run, clicks, reports }: Loads,
): Promise<void> {
  expect(clicks.resets + reports.resets).toBeLessThanOrEqual(RESETS_MAX);
  const conversions = [...reports.reported.values(), ...reports.created].toSorted();
  const stored = await until(
    "all clicks and conversions are in ClickHouse",
    async () => {
      const clickIds = await world.facts<{ id: string; number: number }>(
        "select lower(hex(click_id)) as id, toUInt32(sub2) as number from click where sub1 = {run: String}",
        { run },
      );
      const facts = await world.facts<{ id: string }>(
        "select toString(id) as id from conversion_fact final order by 1",
      );
      const isAll = clickIds.length >= clicks.answered.size && facts.length >= conversions.length;
      return isAll ? { clickIds, facts: facts.map(({ id }) => id) } : undefined;
    },
    { timeoutMs: 120_000, pollMs: 200 },
  );
  const records = await world.rows<{ id: string; status: string }>(
    "select id::text, status from conversion order by id::text",
  );
  const numbers = new Map(stored.clickIds.map(({ id, number }) => [id, number]));
  const wrong = [...clicks.answered].filter(([number, id]) => numbers.get(id) !== number);
  reportCases(context, {
    cases: clicks.answered.size + conversions.length + reports.read,
    violations: wrong.length + Math.abs(records.length - conversions.length),
  });
  expect(wrong.slice(0, 10)).toEqual([]);
  expect(stored.clickIds).toHaveLength(clicks.answered.size);
  expect(records.map(({ id }) => id)).toEqual(conversions);
  expect(stored.facts).toEqual(conversions);
}
