import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { UsageError } from "./command-error.ts";
import { runCommand, USAGE } from "./run-command.ts";
import { findServers } from "./servers.ts";
import { readNewWorkspace } from "./workspaces.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-command-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const NOWHERE = { postgresUrl: undefined, natsUrl: undefined, clickhouseUrl: undefined };

function environment() {
  return {
    dataDir: folder,
    apiUrl: "",
    trackingUrl: "",
    natsPrefix: "",
    natsReplicas: 1,
    servers: NOWHERE,
  };
}

test.each([
  [["migrte"]],
  [["workspace"]],
  [["workspace", "create"]],
  [["workspace", "create", "--name"]],
  [["workspace", "create", "--name", "x", "--nme", "y"]],
  [["workspace", "create", "--name", "x", "extra"]],
  [["workspace", "create", "--name", "!!!"]],
  [["workspace", "create", "--name", "x", "--timezone", "Mars/Base"]],
  [["workspace", "create", "--name", "x", "--currency", "usd"]],
  [["workspace", "status", "--workspace", "x", "--set", "off"]],
  [["key", "create", "--role", "admin"]],
  [["demo", "--jsn"]],
] as const)("%j is refused with its usage before any server is asked", async (args) => {
  await expect(runCommand(args, environment())).rejects.toThrow(UsageError);
});

test("help is no fault", async () => {
  expect(await runCommand(["--help"], environment())).toBe(USAGE);
  expect(await runCommand([], environment())).toBe(USAGE);
});

test("servers are those of the environment, else those of the run in DATA_DIR, else what to set is said", () => {
  expect(() => findServers(["postgresUrl", "natsUrl"], NOWHERE, folder)).toThrow(
    /POSTGRES_URL, NATS_URL.*npm start/,
  );
  const file = join(folder, "servers.json");
  writeFileSync(
    file,
    JSON.stringify({
      postgres_url: "postgres://a",
      nats_url: "nats://a",
      clickhouse_url: "http://a",
    }),
  );
  expect(
    findServers(["natsUrl", "postgresUrl"], { ...NOWHERE, natsUrl: "nats://b" }, folder),
  ).toEqual({
    natsUrl: "nats://b",
    postgresUrl: "postgres://a",
  });
  writeFileSync(file, "{");
  expect(() => findServers(["natsUrl"], NOWHERE, folder)).toThrow(/servers.json cannot be read/);
  expect(findServers(["natsUrl"], { ...NOWHERE, natsUrl: "nats://b" }, folder)).toEqual({
    natsUrl: "nats://b",
  });
});

test("a workspace has a slug of its name unless one is given (G180)", () => {
  const asked = {
    name: "Acme & Söhne GmbH",
    slug: undefined,
    timezone: undefined,
    currency: undefined,
  };
  expect(readNewWorkspace(asked)).toEqual({
    name: "Acme & Söhne GmbH",
    slug: "acme-s-hne-gmbh",
    timezone: "UTC",
    currency: "USD",
  });
  expect(() => readNewWorkspace({ ...asked, slug: "Not a slug" })).toThrow(UsageError);
});
