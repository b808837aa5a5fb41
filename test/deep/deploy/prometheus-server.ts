import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

/** Whether Debian's package `prometheus` is installed. */
export const hasPrometheus: boolean = spawnSync("prometheus", ["--version"]).error === undefined;

export type Target = { readonly job: string; readonly port: number };

const Series = z.object({
  metric: z.record(z.string(), z.string()),
  values: z.array(z.tuple([z.number(), z.string()])).default([]),
});
export type Series = z.infer<typeof Series>;
const Found = z.object({
  status: z.string(),
  error: z.string().optional(),
  data: z.object({ result: z.array(z.union([Series, z.unknown()])) }).optional(),
});

const SCRAPE_SECONDS = 1;

/** A Prometheus that scrapes the targets every second and evaluates rule files. */
export class PrometheusServer {
  readonly #url: string;
  readonly #stop: () => Promise<void>;

  private constructor(url: string, stop: () => Promise<void>) {
    this.#url = url;
    this.#stop = stop;
  }

  static async start(
    targets: readonly Target[],
    ruleFiles: readonly string[],
  ): Promise<PrometheusServer> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-prometheus-"));
    const port = await freePort();
    await writeFile(join(folder, "prometheus.yml"), configOf(targets, ruleFiles));
    const server = spawn(
      "prometheus",
      [
        `--config.file=${join(folder, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
        "--log.level=error",
      ],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    const ended = once(server, "exit");
    const started = new PrometheusServer(`http://127.0.0.1:${port}`, async () => {
      server.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true, force: true });
    });
    const isUp = async (): Promise<boolean> =>
      await fetch(`http://127.0.0.1:${port}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until("Prometheus is ready", isUp, { pollMs: 100 });
    return started;
  }

  /** The series that an expression finds now. @throws with Prometheus's words when it cannot be evaluated. */
  async query(expr: string): Promise<Series[]> {
    const answer = await fetch(`${this.#url}/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query: expr }),
    });
    const { status, error, data } = Found.parse(await answer.json());
    if (status !== "success") throw new Error(`${expr}: ${error ?? status}`);
    return (data?.result ?? []).flatMap((one) => Series.safeParse(one).data ?? []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

function configOf(targets: readonly Target[], ruleFiles: readonly string[]): string {
  const every = `${SCRAPE_SECONDS}s`;
  return JSON.stringify({
    global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: every },
    rule_files: ruleFiles,
    scrape_configs: targets.map(({ job, port }) => ({
      job_name: job,
      static_configs: [{ targets: [`127.0.0.1:${port}`] }],
    })),
  });
}
