import { join } from "node:path";
import { AccessNotes } from "../../ingress/access-notes.ts";
import { openPixels } from "../../ingress/pixels/open-pixels.ts";
import { LookupLimit } from "../../ingress/request/lookup-limit.ts";
import { readLandingScript } from "../../ingress/routes/landing-script.ts";
import { ingressRoutes } from "../../ingress/routes/route-table.ts";
import { IngressServer, readMultipart } from "../../ingress/server.ts";
import { AccessLog } from "../../schemas/host/access-log.ts";
import { openLog } from "../../schemas/host/log.ts";
import { Metrics } from "../../schemas/host/metrics.ts";
import { NatsLink } from "../../schemas/nats/nats-link.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import { aClickService } from "../samples/a-click-service.ts";
import { until } from "./until.ts";

/*
 * A program: the ingress with all its routes, of whose requests only two may wait. Arguments: port, NATS URL, NATS prefix, and the
 * folder of kept pixels and of the access log.
 */
const [port = "", url = "", prefix = "", folder = ""] = process.argv.slice(2);
const nothing = (): undefined => undefined;
process.stdin.once("end", () => process.kill(process.pid)).resume();

const log = openLog({ process: "test", level: "info" });
const link = new NatsLink({ url, name: "test", prefix }, log);
void link.start();
await until("it has NATS", () => link.current());
const registry = new Metrics();
const { deps } = aClickService();
const events = { landed: nothing, handlerFailed: nothing, answered: nothing };
const routes = ingressRoutes({
  ...deps,
  events,
  link,
  pixels: openPixels({ folder, log, registry }),
  lookups: new LookupLimit({ ...deps, perMinute: 0 }),
  inboundLog: { add: (row) => log.info({ row }, "test.row") },
  multipart: readMultipart,
  producer: 1,
  landingScript: await readLandingScript(),
  isHealthy: () => true,
  noteRefusal: nothing,
  ipRequestsPerMinute: 0,
});
const access = AccessLog.open({
  role: "ingress",
  share: 0,
  file: join(folder, "access.log"),
  events: { dropped: nothing, failed: nothing },
});
const server = new IngressServer({
  access: new AccessNotes(access, systemClock),
  ...routes,
  events,
  record: nothing,
  timed: () => ({ observe: nothing }),
  inFlightMax: 2,
});
await server.listen("127.0.0.1", Number(port));
log.info("process.running");
