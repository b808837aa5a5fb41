import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { startApi } from "../../../api/start-api.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { OutgoingClient } from "../../../schemas/outgoing/outgoing-client.ts";
import { secretKeys } from "../../samples/secret-keys.ts";
import type { Caller, ReportWorld } from "./report-world.ts";

const Address = z.looseObject({ port: z.int() });

export type ReportApi = {
  readonly origin: string;
  readonly keys: Readonly<Record<Caller, string>>;
  readonly close: () => Promise<void>;
};

/** Starts the API on a free port, with a key for each caller of the world. */
export async function serveReports(world: ReportWorld): Promise<ReportApi> {
  const { workspaceId, affiliateIds, advertiserIds } = world.seed;
  const key = (role: Caller, account: { affiliateId?: number; advertiserId?: number } = {}) =>
    insertKey(world.pool, { workspaceId, name: role, role, ...account });
  const keys = {
    admin: await key("admin"),
    analyst: await key("analyst"),
    partner: await key("partner", { affiliateId: affiliateIds[0] }),
    advertiser: await key("advertiser", { advertiserId: advertiserIds[0] }),
  };
  const outgoing = new OutgoingClient({ allowLoopback: false });
  const app = await startApi({
    metrics: new Metrics(),
    secretKeys: secretKeys(),
    db: world.pool,
    clickhouse: world.clickhouse,
    nats: () => world.nats,
    outgoing,
    log: openLog({ process: "test", level: "silent" }),
    trustedProxies: [],
    rateLimitPerMinute: 1_000_000,
    apiUrl: "https://api.example",
    trackingUrl: "http://track.example:8080",
    allowLoopback: false,
    clickRetentionDays: 0,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = Address.parse(app.server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    keys,
    close: async () => {
      await app.close();
      await outgoing.close();
    },
  };
}
