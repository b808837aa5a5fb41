import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const Value = z.object({
  stringValue: z.string().optional(),
  intValue: z.union([z.string(), z.number()]).optional(),
});
const Attributes = z.array(z.object({ key: z.string(), value: Value })).default([]);
const Traces = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().default(""),
              name: z.string(),
              startTimeUnixNano: z.string(),
              endTimeUnixNano: z.string(),
              attributes: Attributes,
              status: z.object({ code: z.int().default(0) }).default({ code: 0 }),
            }),
          ),
        }),
      ),
    }),
  ),
});

export type CollectedSpan = {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly isFailed: boolean;
  readonly seconds: number;
};

/** `deploy/checks/collector/check.sh` builds it. */
export const COLLECTOR_PROGRAM: string = projectFile(
  "node_modules",
  ".cache",
  "tracker-collector",
  "collector",
);

/** Whether the collector is built. Building takes minutes the first time, so `npm test` does not do it. */
export const hasCollector: boolean = existsSync(COLLECTOR_PROGRAM);

const STATUS_ERROR = 2;
const PATIENCE = { timeoutMs: 90_000, pollMs: 50 };

/** An OpenTelemetry Collector that takes OTLP over HTTP, and what it has taken. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  /** Everything that it passed on, as JSON. */
  text = "";
  readonly #program: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #sink: Server;
  #child: ReturnType<typeof spawn> | undefined;

  private constructor(parts: { program: string; folder: string; port: number; sink: Server }) {
    this.#program = parts.program;
    this.#folder = parts.folder;
    this.#port = parts.port;
    this.#sink = parts.sink;
  }

  static async open(program: string): Promise<Collector> {
    const folder = await mkdtemp(join(tmpdir(), "tracker-collector-"));
    const [port, sinkPort] = [await freePort(), await freePort()];
    const sink = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        collector.#take(Buffer.concat(chunks).toString());
        response.writeHead(200, { "content-type": "application/json" }).end("{}");
      });
    });
    const collector = new Collector({ program, folder, port, sink });
    await once(sink.listen(sinkPort, "127.0.0.1"), "listening");
    await writeFile(join(folder, "collector.yaml"), configOf(port, sinkPort));
    await collector.start();
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const config = `--config=${join(this.#folder, "collector.yaml")}`;
    this.#child = spawn(this.#program, [config], { stdio: ["ignore", "ignore", "inherit"] });
    await until(
      "the collector takes spans",
      async () => {
        const empty = {
          method: "POST",
          body: "{}",
          headers: { "content-type": "application/json" },
        };
        return (await fetch(`${this.url}/v1/traces`, empty)).ok;
      },
      PATIENCE,
    );
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }

  async untilSpan(
    what: string,
    isWanted: (span: CollectedSpan) => boolean,
  ): Promise<CollectedSpan> {
    return await until(`the collector has ${what}`, () => this.spans.find(isWanted), PATIENCE);
  }

  /** The span with this name below `parent`, or without one the root of a trace. */
  async untilChild(name: string, parent: CollectedSpan): Promise<CollectedSpan> {
    return await this.untilSpan(
      `${name} below ${parent.name}`,
      (span) =>
        span.name === name &&
        span.traceId === parent.traceId &&
        span.parentSpanId === parent.spanId,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#sink.closeAllConnections();
    await new Promise((resolve) => this.#sink.close(resolve));
    await rm(this.#folder, { recursive: true });
  }

  #take(text: string): void {
    this.text += text;
    for (const { resource, scopeSpans } of Traces.parse(JSON.parse(text)).resourceSpans) {
      const service = String(valuesOf(resource.attributes)["service.name"] ?? "");
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        const { startTimeUnixNano: from, endTimeUnixNano: to, status, attributes, ...ids } = span;
        const seconds = Number(BigInt(to) - BigInt(from)) / 1e9;
        const isFailed = status.code === STATUS_ERROR;
        this.spans.push({ ...ids, service, attributes: valuesOf(attributes), isFailed, seconds });
      }
    }
  }
}

function valuesOf(attributes: z.infer<typeof Attributes>): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
}

/** JSON is YAML too. */
function configOf(port: number, sinkPort: number): string {
  return JSON.stringify({
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: {
      otlp_http: {
        endpoint: `http://127.0.0.1:${sinkPort}`,
        encoding: "json",
        compression: "none",
      },
    },
    service: {
      pipelines: { traces: { receivers: ["otlp"], exporters: ["otlp_http"] } },
      telemetry: { metrics: { level: "none" }, logs: { level: "error" } },
    },
  });
}
