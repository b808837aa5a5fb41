import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { METRICS_BY_PROCESS } from "../../../schemas/host/metric-definitions.ts";
import { alerts, OBSERVE, recorded, ruleFiles } from "../../deploy/alert-rules.ts";
import { opsPortsOf } from "../../system/ops-ports.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";
import { hasPrometheus, PrometheusServer, type Series } from "./prometheus-server.ts";

const WITHOUT_PROMETHEUS = hasPrometheus
  ? ""
  : " (skipped: prometheus is missing, see apt-get install prometheus)";
const JOBS = ["ingress", "processors", "api"] as const;
const SCRAPES_MIN = 15;
const PATIENCE = { timeoutMs: 60_000, pollMs: 500 };

/** Metrics whose series come and go, each for its reason. */
const CHANGING: Readonly<Record<string, string>> = {
  clicks_oldest_waiting_seconds: "absent while no batch waits",
  clicks_oldest_visit_seconds: "absent while a lane remembers no visit",
  clicks_pending_messages: "absent until every lane has read its stream",
  clicks_stream_bytes: "absent until NATS was asked",
  clicks_stream_bytes_max: "absent until NATS was asked",
  facts_behind_seconds: "absent without the lease",
  facts_differences: "absent until an audit has finished",
  delivery_oldest_due_seconds: "absent while nothing is due",
  delivery_queue_depth: "absent until the queue was measured",
  ingress_click_totals_age_seconds: "absent until a writer has reported",
  ingress_caps_reached_age_seconds: "absent until a processor has reported",
  incarnation_mismatch: "absent until both stores have answered",
};

/** A demo has no such thing, or its labels come with the first use. */
const UNUSED = new Set([
  "backup_age_seconds",
  "clickhouse_nodes_unwell",
  "clicks_oldest_waiting_seconds",
  "clicks_oldest_visit_seconds",
  "facts_differences",
  "delivery_oldest_due_seconds",
  "durability_violation",
]);

describe.skipIf(!hasPrometheus)(`a whole service seen by Prometheus${WITHOUT_PROMETHEUS}`, () => {
  let system: System;
  let prometheus: PrometheusServer;
  let ports: ReadonlyMap<string, number>;

  beforeAll(async () => {
    system = await startSystem();
    ports = new Map(
      [...(await opsPortsOf(system))].map(([name, port]) => [name.replace(/-\d+$/, ""), port]),
    );
    const targets = JOBS.map((job) => ({ job: `tracker-${job}`, port: ports.get(job) ?? 0 }));
    prometheus = await PrometheusServer.start(targets, ruleFiles);
    await until("it has scraped often, with traffic", async () => await hasScraped(), PATIENCE);
  });
  afterAll(async () => {
    await prometheus[Symbol.asyncDispose]();
    await system[Symbol.asyncDispose]();
  });

  async function hasScraped(): Promise<boolean> {
    await sendTraffic(system);
    const up = await prometheus.query("sum_over_time(up[10m])");
    const counted = await prometheus.query(`sum_over_time(up[10m]) >= ${SCRAPES_MIN}`);
    return up.length === JOBS.length && counted.length === JOBS.length;
  }

  const textOf = async (job: string): Promise<string> =>
    await (await fetch(`http://127.0.0.1:${ports.get(job) ?? 0}/metrics`)).text();

  test.each(JOBS)(
    "%s has every metric of the catalogue that is its own, and no other",
    async (job) => {
      const text = await textOf(job);
      const declared = [...text.matchAll(/^# TYPE tracker_(\w+) /gm)].map(([, name = ""]) => name);
      expect(declared.toSorted()).toEqual(namesOf(job).toSorted());
      const found = await prometheus.query(`count by (__name__) ({job="tracker-${job}"})`);
      const names = new Set(found.map(({ metric }) => nameOf(metric)));
      const missing = namesOf(job).filter((name) => !names.has(name) && !UNUSED.has(name));
      expect(missing).toEqual([]);
    },
  );

  test.each(JOBS)("promtool has nothing to say about the metrics of %s", async (job) => {
    const input = await textOf(job);
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
      input,
      encoding: "utf8",
    });
    expect([status, stdout + stderr]).toEqual([0, ""]);
  });

  test("no counter falls", async () => {
    const series = await prometheus.query('{__name__=~"tracker_.+_(total|bucket|count|sum)"}[10m]');
    expect(series.length).toBeGreaterThan(100);
    const fell = series.filter(({ values }) =>
      values.some(([, value], index) => Number(value) < Number(values[index - 1]?.[1] ?? 0)),
    );
    expect(fell.map(({ metric }) => metric)).toEqual([]);
  });

  test("no series disappears or has gaps without a reason", async () => {
    const scrapes = new Map(
      (await prometheus.query("up[10m]")).map(({ metric, values }) => [
        metric["job"],
        values.map(([at]) => at),
      ]),
    );
    const series = await prometheus.query('{__name__=~"tracker_.+"}[10m]');
    const gaps = series.filter((one) => hasGaps(one, scrapes.get(one.metric["job"]) ?? []));
    expect(new Set(gaps.map(({ metric }) => nameOf(metric)))).toEqual(new Set());
  });

  test("every expression of the rules is evaluated", async () => {
    expect(alerts.length + recorded.length).toBeGreaterThan(0);
    for (const { expr } of [...alerts, ...recorded])
      await expect(prometheus.query(expr), expr).resolves.toBeDefined();
  });

  test("every expression of the dashboards is evaluated", async () => {
    for (const expr of dashboardExpressions())
      await expect(prometheus.query(expr), expr).resolves.toBeDefined();
  });
});

/** Without the metric that only `DURABILITY=strict` declares. */
function namesOf(job: string): string[] {
  return METRICS_BY_PROCESS.flatMap(({ processes, metrics }) =>
    processes.some((one) => one === job) ? Object.keys(metrics) : [],
  ).filter((name) => name !== "durability_violation");
}

/** The name in the catalogue. */
function nameOf(metric: Readonly<Record<string, string>>): string {
  const name = (metric["__name__"] ?? "").replace(/^tracker_/, "");
  return name.replace(/_seconds_(bucket|sum|count)$/, "_seconds");
}

/** From its first appearance on, a series is in every scrape of its target. */
function hasGaps({ metric, values }: Series, scrapes: readonly number[]): boolean {
  if (Object.hasOwn(CHANGING, nameOf(metric)) || metric["__name__"]?.includes(":")) return false;
  const [[first] = [Number.POSITIVE_INFINITY]] = values;
  const seen = new Set(values.map(([at]) => at));
  // The newest scrape may have been stored between the two questions.
  return scrapes.slice(0, -1).some((at) => at >= first && !seen.has(at));
}

/** Clicks, reports, a pixel, a landing page, reads of the api, and requests that each of them refuses. */
async function sendTraffic({ client }: System): Promise<void> {
  const { links, tracking_url: tracking, postback_token: token, base_url: api, keys } = client.demo;
  const click = await client.attempt(links.affiliate);
  const id = /trk_cid=([0-9a-f]{32})/.exec(String(click.headers["set-cookie"]))?.[1] ?? "";
  await client.attempt(`${tracking}/pb?token=${token}&click_id=${id}&tx_id=${id}`);
  await client.attempt(`${tracking}/px?click_id=${id}`);
  await client.attempt(`${tracking}/lp`, {}, "{}");
  await client.attempt(`${tracking}/r/NOBODY/NOBODY`);
  const authorization = `Bearer ${keys.admin}`;
  for (const path of ["/offers", "/clicks", "/reports?group_by=offer", "/nothing"])
    await client.attempt(`${api}${path}`, { authorization });
  await client.attempt(`${api}/offers`);
}

const Panel = z.looseObject({ targets: z.array(z.looseObject({ expr: z.string() })).default([]) });
const Dashboard = z.looseObject({
  panels: z.array(Panel.extend({ panels: z.array(Panel).default([]) })).default([]),
});

/** Their variables stand for an interval or for everything. */
function dashboardExpressions(): string[] {
  const folder = join(OBSERVE, "dashboards");
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files.flatMap((name) => {
    const { panels } = Dashboard.parse(JSON.parse(readFileSync(join(folder, name), "utf8")));
    return panels
      .flatMap((panel) => [...panel.targets, ...panel.panels.flatMap(({ targets }) => targets)])
      .map(({ expr }) =>
        expr
          .replaceAll(/\$\{?__(rate_interval|interval|range)\}?/g, "1m")
          .replaceAll(/\$\{?\w+(:\w+)?\}?/g, ".*"),
      );
  });
}
