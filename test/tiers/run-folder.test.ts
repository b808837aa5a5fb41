import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { until } from "../system/until.ts";

const Started = z.object({ child: z.int(), waiting: z.int(), folder: z.string() });

/** A run that has made its folder and started a process which outlives its parent and ends only by a signal. */
const RUN = `
  const { openRunFolder } = await import(${JSON.stringify(projectFile(".build/test/tiers/run-folder.js"))});
  const { mkdirSync } = await import("node:fs");
  const { spawn } = await import("node:child_process");
  const waiting = openRunFolder();
  const folder = process.env.TEST_RUN_FOLDER;
  mkdirSync(folder);
  const code = "setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ["-e", code], { detached: true, stdio: "ignore" });
  child.unref();
  console.log(JSON.stringify({ child: child.pid, waiting, folder }));
  if (process.argv[1] === "killed") setInterval(() => {}, 1000);
`;

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

test.each(["killed", "ended"])(
  "a run that was %s leaves no process, no data and no folder",
  async (how) => {
    const dataDir = mkdtempSync(join(tmpdir(), "tracker-left-"));
    const run = spawn(process.execPath, ["--input-type=module", "-e", RUN, how], {
      env: { ...process.env, DATA_DIR: dataDir },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = z.array(z.string()).parse(await once(createInterface(run.stdout), "line"));
    const { child, waiting, folder } = Started.parse(JSON.parse(lines.join("")));
    if (how === "killed") run.kill("SIGKILL");
    for (const pid of [child, waiting])
      await until(`process ${pid} has ended`, () => !isAlive(pid), { pollMs: 20 });
    expect([existsSync(folder), existsSync(dataDir)]).toEqual([false, false]);
  },
);
