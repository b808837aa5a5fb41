import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { z } from "zod";
import { Demo } from "../../deploy/local/demo-file.ts";
import { ServiceClient } from "../system/service.ts";
import { until } from "../system/until.ts";

/** One process as its deployment starts it: `tracker <args>` with these settings and no others. */
export type TrackerProcess = {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Ports of 127.0.0.1 whose `/readyz` must answer 200 before the first click. */
  readonly opsPorts?: readonly number[];
};

/** Starts one process. Its standard output and standard error must be pipes. */
export type StartTracker = (process: TrackerProcess) => ChildProcess;

export type Deployment = {
  readonly start: StartTracker;
  /** Runs to its end before the others start. */
  readonly migrate: TrackerProcess;
  readonly ingress: TrackerProcess;
  readonly processors: TrackerProcess;
  readonly api: TrackerProcess;
};

/** What the processes of a deployment did, by name. */
export type FirstClick = {
  /** The id of the click that was stored, converted and reported. */
  readonly clickId: string;
  readonly exitCodes: Readonly<Record<string, number | null>>;
  readonly output: Readonly<Record<string, string>>;
};

const READY_MS_MAX = 90_000;
const REPORTED_MS_MAX = 60_000;
const ENDED_MS_MAX = 60_000;
const COMMAND_MS_MAX = 120_000;
const OUTPUT_CHARS_MAX = 200_000;

const Report = z.object({
  data: z.array(z.looseObject({ clicks: z.number(), conversions: z.number() })),
});

/**
 * Runs a whole deployment from an empty database to the first reported conversion, then ends every process with SIGTERM.
 * `meanwhile` runs before that.
 * @throws if a step fails. The error contains the output of the process that failed.
 */
export async function firstClick(
  deployment: Deployment,
  meanwhile: (demo: Demo, clickId: string) => Promise<void> = async () => undefined,
): Promise<FirstClick> {
  const { start, migrate, ingress, processors, api } = deployment;
  const running = [ingress, processors, api].map((process) => new Running(process, start));
  try {
    await new Running(migrate, start).run();
    const demo = await new Running({ ...migrate, name: "demo", args: ["demo", "--json"] }, start)
      .run()
      .then((text) => Demo.parse(JSON.parse(text)));
    for (const one of running) one.start();
    for (const one of running) await one.untilReady();
    const clickId = await convertOneClick(demo);
    await meanwhile(demo, clickId);
    // Ingress first: the others still take its last requests.
    const exitCodes: Record<string, number | null> = {};
    for (const one of running) exitCodes[one.name] = await one.end();
    const output = Object.fromEntries(running.map((one) => [one.name, one.output]));
    return { clickId, exitCodes, output };
  } finally {
    for (const one of running) one.kill();
  }
}

/** A click of the demo's link, its conversion, and the report that counts both. Returns the id of the click. */
async function convertOneClick(demo: Demo): Promise<string> {
  const client = new ServiceClient(demo);
  try {
    const click = await until(
      "the link redirects",
      async () => {
        const answer = await client.attempt(demo.links.affiliate);
        return answer.status === 302 ? answer : undefined;
      },
      { timeoutMs: REPORTED_MS_MAX },
    );
    const clickId = /[0-9a-f]{32}/.exec(String(click.headers["location"]))?.[0];
    if (clickId === undefined) throw new Error("the destination has no click id");
    const url = `${demo.tracking_url}/pb?token=${demo.postback_token}&click_id=${clickId}&amount=49.90&txid=first`;
    await until(
      "the conversion is recorded",
      async () => {
        const { status, body } = await client.attempt(url);
        // An advertiser repeats a 503: no conversion processor may answer yet.
        if (status !== 200 && status !== 503) throw new Error(`/pb: HTTP ${status} ${body}`);
        return status === 200;
      },
      { timeoutMs: REPORTED_MS_MAX },
    );
    await until(
      "the report counts the click and its conversion",
      async () => {
        const answer = await client.rest("/reports?preset=today&metrics=clicks,conversions");
        const [row] = Report.parse(answer).data;
        return row !== undefined && row.clicks >= 1 && row.conversions === 1;
      },
      { timeoutMs: REPORTED_MS_MAX },
    );
    return clickId;
  } finally {
    await client.close();
  }
}

class Running {
  readonly #process: TrackerProcess;
  readonly #start: StartTracker;
  #child: ChildProcess | undefined;
  #ended: Promise<number | null> | undefined;
  #stdout = "";
  #stderr = "";

  constructor(process: TrackerProcess, start: StartTracker) {
    this.#process = process;
    this.#start = start;
  }

  get name(): string {
    return this.#process.name;
  }

  get output(): string {
    return `${this.#stdout}${this.#stderr}`;
  }

  start(): void {
    const child = this.#start(this.#process);
    this.#child = child;
    child.stdout?.on("data", (chunk: Buffer) => {
      this.#stdout = (this.#stdout + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    });
    this.#ended = once(child, "close").then(() => child.exitCode);
  }

  /** Runs a command and returns its standard output. @throws unless it ended with code 0. */
  async run(): Promise<string> {
    this.start();
    const code = await this.#end(COMMAND_MS_MAX);
    if (code !== 0) throw this.#fault(`ended with code ${code ?? "none: killed"}`);
    return this.#stdout;
  }

  async untilReady(): Promise<void> {
    for (const port of this.#process.opsPorts ?? []) {
      const isReady = async (): Promise<boolean> => {
        if (this.#child?.exitCode !== null) throw this.#fault("ended");
        return (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200;
      };
      try {
        await until(`${this.name} is ready on ${port}`, isReady, { timeoutMs: READY_MS_MAX });
      } catch (error) {
        throw this.#fault("is not ready", error);
      }
    }
  }

  /** Sends SIGTERM and returns the exit code. */
  async end(): Promise<number | null> {
    this.#child?.kill("SIGTERM");
    return await this.#end(ENDED_MS_MAX);
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  async #end(deadlineMs: number): Promise<number | null> {
    const timer = setTimeout(() => this.kill(), deadlineMs);
    const code = await this.#ended;
    clearTimeout(timer);
    return code ?? null;
  }

  #fault(what: string, cause?: unknown): Error {
    return new Error(`${this.name} ${what}:\n${this.output.slice(-4_000)}`, { cause });
  }
}
