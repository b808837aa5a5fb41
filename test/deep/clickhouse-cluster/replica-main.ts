/**
 * A ClickHouse node of a cluster as a process: the embedded engine as a real replica. Run as `node replica-main.js <JSON of ReplicaOrder>`. Other
 * nodes reach it at the ports of a server, 9000 and 9009. Its port 8123 is this program's, which passes requests on to the engine and does
 * what the engine cannot: statements `on cluster`. It ends when its standard input closes.
 */
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { ReplicaOrder } from "./replica-order.ts";

const HTTP_PORT = 8_123;
/** Where the engine answers statements: on the loopback of its host only. Elsewhere this port is for replicas. */
const ENGINE = { host: "127.0.0.1", port: 9_009 } as const;
const ON_CLUSTER = /\bon cluster\s+'?[\w-]+'?/i;
/** More than a definition has. The body of an insert is larger, and begins with rows. */
const STATEMENT_BYTES_MAX = 100_000;
const DEFINITION = /^\s*(?:create|alter|drop)\s/i;

type Answer = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
};

const order = ReplicaOrder.parse(JSON.parse(process.argv[2] ?? ""));
const agent = new Agent({ keepAlive: true });

function killThisProcess(): void {
  process.kill(process.pid, "SIGKILL");
}

async function serve(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const body = await buffer(asked);
  const text = String(body.subarray(0, STATEMENT_BYTES_MAX));
  const {
    status,
    headers,
    body: said,
  } = DEFINITION.test(text) && ON_CLUSTER.test(text)
    ? await defineEverywhere(asked, text)
    : await send(asked, body, ENGINE);
  delete headers["transfer-encoding"];
  delete headers["connection"];
  answer.writeHead(status, headers).end(said);
}

/**
 * As the servers' queue of definitions: each node runs the statement by itself. A change of a replicated table goes to one replica of a shard,
 * whose Keeper tells the others; settings go to each.
 */
async function defineEverywhere(asked: IncomingMessage, text: string): Promise<Answer> {
  const statement = Buffer.from(text.replace(ON_CLUSTER, ""));
  const isOfReplica = /^\s*alter\s/i.test(text) && !/\bmodify setting\b/i.test(text);
  const nodes = isOfReplica ? order.shards.flatMap(([node]) => node ?? []) : order.shards.flat();
  let last: Answer | undefined;
  for (const host of nodes) {
    last = await send(asked, statement, { host, port: HTTP_PORT });
    if (last.status !== 200) return last;
  }
  if (last === undefined) throw new Error("a cluster without nodes");
  return last;
}

async function send(
  asked: IncomingMessage,
  body: Buffer,
  to: { readonly host: string; readonly port: number },
): Promise<Answer> {
  const headers = { ...asked.headers, "content-length": String(body.length) };
  delete headers["transfer-encoding"];
  delete headers["connection"];
  const sent = request({ ...to, agent, method: asked.method, path: asked.url, headers });
  const answered = once(sent, "response");
  sent.end(body);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only argument of `response`
  const [got] = (await answered) as [IncomingMessage];
  return { status: got.statusCode ?? 0, headers: got.headers, body: await buffer(got) };
}

process.stdin.on("end", killThisProcess).resume();
const program = projectFile(".build", "test", "deep", "clickhouse-cluster", "replica-thread.js");
const engine = new Worker(program, { workerData: order });
engine.once("error", (error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`, killThisProcess);
});
engine.once("exit", killThisProcess);
createServer((asked, answer) => {
  serve(asked, answer).catch((error: unknown) => {
    answer.destroy(error instanceof Error ? error : new Error(String(error)));
  });
}).listen(HTTP_PORT, order.address);
