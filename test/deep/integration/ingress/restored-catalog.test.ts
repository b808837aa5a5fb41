import { join } from "node:path";
import { expect, test } from "vitest";
import { forThisFile } from "../../../services/for-this-file.ts";
import {
  backUpPostgres,
  dropPostgresDatabase,
  restorePostgres,
} from "../../../services/fresh-database.ts";
import { metricAt } from "../../../services/metric-at.ts";
import { IngressFleet } from "../../../system/ingress-fleet.ts";
import { freePort } from "../../../system/start-system.ts";
import { locationOf, untilLeadsTo } from "./link-location.ts";

/** The age of a catalog that is followed stays below this on a loaded machine, too. */
const AGE_S_MAX = 20;
const TIMEOUT_MS = 120_000;

const fleet = await forThisFile(IngressFleet.open());
const databaseUrl = fleet.world.env.POSTGRES_URL;
const otherPort = await freePort();
/** The port and settings of a process with a folder of its own. */
const other = {
  port: otherPort,
  env: { TRACKING_PORT: String(otherPort), DATA_DIR: join(fleet.folder, "other") },
};
await fleet.world.addOffer({ code: "OFFER1", destination_url: "https://shop.example/original" });

async function pointTo(page: string): Promise<void> {
  // A restore ends all connections: the first statement on one of them fails.
  const text = "update offer set destination_url = $1 where code = 'OFFER1'";
  const change = (): Promise<void> => fleet.world.change(text, [`https://shop.example/${page}`]);
  await change().catch(change);
}

test("after a restore running ingresses and those started from a copy follow every change (#6)", {
  timeout: TIMEOUT_MS,
}, async () => {
  const backup = await backUpPostgres(databaseUrl);
  try {
    const pid = await fleet.addIngress(other.env);
    await pointTo("lost");
    await fleet.world
      .addOffer({ code: "LOST" })
      .catch(() => fleet.world.addOffer({ code: "LOST" }));
    for (const port of [fleet.port, other.port]) {
      await untilLeadsTo(port, "https://shop.example/lost");
      await untilLeadsTo(port, "https://shop.example/", "/r/LOST/PARTNR");
    }
    await fleet.terminate(pid);

    await restorePostgres(databaseUrl, backup);
    await untilLeadsTo(fleet.port, "https://shop.example/original");
    expect(await locationOf(fleet.port, "/r/LOST/PARTNR")).toBe("404");
    const [opsPort = 0] = fleet.opsPorts;
    expect(await metricAt(opsPort, "catalog_rewinds_total")).toBe(1);

    // More versions than the restore removed.
    for (let i = 0; i < 30; i += 1) await pointTo(`again-${i}`);
    await fleet.addIngress(other.env);
    for (const port of [fleet.port, other.port]) {
      await untilLeadsTo(port, "https://shop.example/again-29");
      expect(await locationOf(port, "/r/LOST/PARTNR")).toBe("404");
    }
    expect(fleet.opsPorts).toHaveLength(2);
    for (const port of fleet.opsPorts) {
      expect(await metricAt(port, "catalog_rewinds_total")).toBe(1);
      expect(await metricAt(port, "catalog_age_seconds")).toBeLessThan(AGE_S_MAX);
    }
    await pointTo("after");
    for (const port of [fleet.port, other.port])
      await untilLeadsTo(port, "https://shop.example/after");
  } finally {
    await dropPostgresDatabase(
      databaseUrl.replace(/[^/]+$/, "postgres"),
      new URL(backup).pathname.slice(1),
    );
  }
});
