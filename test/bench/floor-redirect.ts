/**
 * The floor of this stack, a baseline of `npm run bench -- redirects`: `node floor-redirect.js <order.json>`. It reads the same headers,
 * query and peer as the ingress, appends a constant record to the same journal and sends the same 302. It decides and ships nothing.
 */

import uws from "uWebSockets.js";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { Journal } from "../../ingress/journal/journal.ts";
import { JournalSegments } from "../../ingress/journal/journal-segments.ts";
import { PeerAddresses } from "../../ingress/request/peer-address.ts";
import { readHead } from "../../ingress/request/request-head.ts";
import { endOrWait, writeHead } from "../../ingress/write-answer.ts";
import { FloorOrder } from "./floor-order.ts";

/** The ingress deletes segments that the writers have stored; here, all but the newest. */
const DELETE_EVERY_MS = 250;

const order = FloorOrder.parse(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
const line = "x".repeat(order.recordBytes);
const answer = { status: 302, headers: order.headers, body: "\n" };
const segments = new JournalSegments();
mkdirSync(order.folder, { recursive: true });
const journal = Journal.open({
  folder: order.folder,
  epoch: 1,
  segments,
  sync: "interval",
  reserveBytes: undefined,
  onTaken: () => undefined,
  onDiskFault: fail,
  onSyncFault: fail,
});
const peers = new PeerAddresses();
/** What was read, so that no reading is left out as unused. */
let read = 0;

uws
  .App()
  .any("/*", (response, request) => {
    const head = readHead(request);
    const peer = peers.textOf(response.getRemoteAddress());
    const query = request.getQuery() ?? "";
    read += head.userAgent.length + query.length + request.getUrl().length + peer.length;
    journal.append({ lane: 0, line });
    writeHead(response, answer, "");
    endOrWait(response, answer.body);
  })
  .listen("127.0.0.1", order.port, (socket) => {
    if (socket === false) fail({}, new Error(`port ${order.port} is in use`));
  });

setInterval(() => {
  for (const path of segments.takePassed(() => true)) rmSync(path, { force: true });
}, DELETE_EVERY_MS);
process.stdin.on("close", () => process.exit(read < 0 ? 1 : 0)).resume();

function fail(...faults: unknown[]): never {
  throw new Error(`the floor cannot go on: ${String(faults.at(-1))}`, { cause: faults });
}
