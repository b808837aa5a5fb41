/**
 * `node run-image.js <root> <image.json>`: runs every role from an unpacked image against real servers, as a container runtime
 * would with a read-only root. deploy/image/build-here.sh starts it as root.
 */
import { spawn } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { freshDatabase } from "../services/fresh-database.ts";
import { startServers } from "../services/servers.ts";
import { type FirstClick, firstClick, type StartTracker } from "./first-click.ts";
import { trackerProcesses } from "./tracker-processes.ts";

/** The configuration of an image, as OCI defines it. */
const ImageConfig = z.object({
  User: z.string().regex(/^\d+:\d+$/),
  Env: z.array(z.string().includes("=")),
  Entrypoint: z.array(z.string()).min(1),
  WorkingDir: z.string().startsWith("/"),
  Volumes: z.record(z.string(), z.unknown()),
});
type ImageConfig = z.infer<typeof ImageConfig>;
/** What `buildah inspect` prints. */
const Inspected = z.object({ OCIv1: z.object({ config: ImageConfig }) });

async function main([root = "", configFile = ""]: readonly string[]): Promise<void> {
  const { config } = Inspected.parse(JSON.parse(readFileSync(configFile, "utf8"))).OCIv1;
  const servers = await startServers({ need: ["postgres", "nats", "clickhouse"] });
  const data = mkdtempSync(join(tmpdir(), "tracker-image-data-"));
  try {
    const database = await freshDatabase({ label: "image", servers: servers.urls });
    const processes = await trackerProcesses({ database, natsUrl: servers.urls.nats });
    const start = inImage(root, config, data);
    const result = await firstClick({ start, ...processes });
    await database.drop();
    printResult(result);
  } finally {
    rmSync(data, { recursive: true, force: true });
    await servers.stop();
  }
}

/** Each process has a volume of its own, as each container has. */
function inImage(root: string, config: ImageConfig, data: string): StartTracker {
  const [uid = 0, gid = 0] = config.User.split(":").map(Number);
  const imageEnv = Object.fromEntries(
    config.Env.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  return ({ name, args, env }) => {
    const volume = join(data, name);
    mkdirSync(volume, { recursive: true });
    chownSync(volume, uid, gid);
    const script = projectFile("deploy", "image", "run-rootfs.sh");
    const { User, WorkingDir, Entrypoint } = config;
    return spawn(
      "unshare",
      [
        ...["--mount", "--propagation", "private", "sh", script],
        ...[root, volume, User, WorkingDir, ...Entrypoint, ...args],
      ],
      // As in a container: the image sets DATA_DIR, and the settings of the process win over the image's.
      { env: { ...imageEnv, ...env }, stdio: ["ignore", "pipe", "pipe"] },
    );
  };
}

function printResult({ clickId, exitCodes }: FirstClick): void {
  process.stdout.write(`click ${clickId} stored, converted, reported; exit codes `);
  process.stdout.write(`${JSON.stringify(exitCodes)}\n`);
  if (Object.values(exitCodes).some((code) => code !== 0)) process.exitCode = 1;
}

await main(process.argv.slice(2));
