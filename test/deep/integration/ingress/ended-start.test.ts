import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TrackingWorld } from "../../../integration/conversions/tracking-world.ts";
import { ChildServer } from "../../../system/child-server.ts";
import { ingressProgram } from "../../../system/service-program.ts";
import { freePort } from "../../../system/start-system.ts";

const HANG_MS = 120_000;

test(
  "an ingress that is stopped while it starts answers no request: its journal is closed (P1, #12)",
  async () => {
    const world = await TrackingWorld.open({ lanes: 0 });
    const folder = await mkdtemp(join(tmpdir(), "tracker-ended-start-"));
    // A NATS that never answers. Ingress connects to it right before it opens its port, and waits.
    const port = await freePort();
    const silent = createServer().listen(port, "127.0.0.1");
    await once(silent, "listening");
    const ingress = ChildServer.spawn(await ingressProgram(), {
      ...world.env,
      NATS_URL: `nats://127.0.0.1:${port}`,
      TRACKING_PORT: String(await freePort()),
      DATA_DIR: folder,
    });
    try {
      await once(silent, "connection");
      await ingress.end("SIGTERM");
      expect(ingress.output).toContain("process.ending");
      expect(ingress.output).not.toContain("process.running");
    } finally {
      await ingress.end("SIGKILL");
      silent.close();
      await world.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
  HANG_MS,
);
