import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { migrateClickhouse } from "../../../schemas/clickhouse/migrate.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { HostControl } from "./host-control.ts";
import { CLUSTER, RealCluster } from "./real-cluster.ts";
import { PASSWORD } from "./replica-node.ts";

vi.setConfig({ testTimeout: 600_000 });

const SCRIPT = projectFile("deploy", "checks", "clickhouse-cluster.sh");
const DATABASE = "check_ledger";

const cluster = await forThisFile(RealCluster.start([2, 2]));
const control = await forThisFile(HostControl.open(cluster));

test("the check of a cluster passes on a real one, and waits until a killed node has booted", async () => {
  await migrateClickhouse(
    { url: cluster.urlOf("admin", DATABASE), cluster: CLUSTER },
    { installation: DATABASE },
  );
  const originsOf = (shard: string): string =>
    cluster.nodes
      .filter((node) => node.shard === shard)
      .map(({ host }) => `http://${host.address}:8123`)
      .join(" ");
  const script = spawn("bash", [SCRIPT], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      NODES: originsOf("1"),
      OTHERS: originsOf("2"),
      DATABASE,
      CLICKHOUSE_USER: "admin",
      CLICKHOUSE_PASSWORD: PASSWORD,
      // Sessions of Keeper end after 10 s.
      ROUND_S: "36",
      ...control.environment,
    },
  });
  const [stdout, stderr] = await Promise.all([text(script.stdout), text(script.stderr)]);
  const said = stdout.replaceAll(/\d{3,}/g, "N");
  // First, so that a failure shows all that the script said.
  expect(`${said}${stderr}`).toMatch(/^pass, ClickHouse \d+\.\d+/m);
  for (const round of ["calm", "kill", "freeze", "partition"])
    expect(said.match(new RegExp(`^ok {3}${round}: .* once$`, "gm"))).toHaveLength(2);
  expect(said).toMatch(/^ok {3}partial: click_all refuses to answer without a shard$/m);
});
