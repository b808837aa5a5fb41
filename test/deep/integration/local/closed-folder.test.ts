import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandOutput } from "../../../../deploy/local/command-output.ts";
import { postgresPrograms } from "../../../../deploy/local/postgres-programs.ts";
import {
  asAccount,
  chooseServerAccount,
  makeAccountFolder,
} from "../../../../deploy/local/server-account.ts";

test.runIf(process.getuid?.() === 0)(
  "started by root, Postgres creates its data in a folder closed to others, such as /root",
  async () => {
    const closed = await mkdtemp(join(tmpdir(), "tracker-test-closed-"));
    try {
      const programs = join(closed, "programs");
      await cp(postgresPrograms(), programs, { recursive: true, verbatimSymlinks: true });
      const data = join(closed, "postgres");
      const account = await chooseServerAccount(data, [programs]);
      makeAccountFolder(data, account);
      const initdb = asAccount(account, join(programs, "bin", "initdb"), ["-D", data]);
      const { command, args } = initdb;
      const made = await commandOutput(command, args, { account: initdb.account, cwd: data });
      expect(made.stderr).not.toContain("invalid binary");
      expect(made.code).toBe(0);
    } finally {
      await rm(closed, { recursive: true, force: true });
    }
  },
);
