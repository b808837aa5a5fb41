import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { STREAM_DEFAULTS } from "../../schemas/nats/stream-settings.ts";
import { RELAXED } from "../../test/samples/durability.ts";
import type { Terminal } from "./command.ts";
import { UsageError } from "./command-error.ts";
import { allCommands, COMMAND_FILES } from "./command-files.ts";
import { runCommand } from "./run-command.ts";
import { findServers } from "./servers.ts";
import { readNewWorkspace } from "./workspaces.ts";

const commands = await allCommands();

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-command-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const NOWHERE = { postgres: undefined, nats: undefined, clickhouse: undefined };

function environment() {
  return {
    dataDir: folder,
    apiUrl: "",
    trackingUrl: "",
    natsSpace: { prefix: "" },
    streams: STREAM_DEFAULTS,
    durability: RELAXED,
    lanes: undefined,
    postgresDirect: undefined,
    secretFiles: [],
    secretKeys: { read: () => undefined, file: undefined },
    servers: NOWHERE,
  };
}

const QUIET: Terminal = {
  report: () => undefined,
  interruption: () => new AbortController().signal,
};

async function tracker(args: readonly string[]): Promise<string> {
  return await runCommand(args, environment(), QUIET);
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
  [["key", "revoke", "--workspace", "x"]],
  [["key", "revoke", "1", "2", "--workspace", "x"]],
  [["key", "create", "--workspace", "x", "--role", "boss"]],
  [["workspace", "settings"]],
  [["workspace", "settings", "set", "--workspace", "x"]],
  [["workspace", "settings", "set", "colour=red", "--workspace", "x"]],
  [["workspace", "settings", "set", "=red", "--workspace", "x"]],
  [["offer", "import", "--workspace", "x"]],
  [["offer", "import", "offers.xlsx", "--workspace", "x"]],
  [["offer", "import", "offers", "--workspace", "x", "--format", "xml"]],
  [["offer", "import", "offers.csv", "--workspace", "x", "--delimiter", "::"]],
] as const)("%j is refused with its usage before any server is asked", async (args) => {
  await expect(tracker(args)).rejects.toThrow(UsageError);
});

test.each([
  [
    ["workspace", "create", "--name", "x", "--nme", "y"],
    "There is no option --nme. Did you mean --name?",
  ],
  [["demo", "--jsn"], "There is no option --jsn. Did you mean --json?"],
  [["demo", "--colour"], "There is no option --colour."],
  [["migrte"], 'There is no command "migrte". Did you mean "migrate"?'],
  [["offr", "list"], 'There is no command "offr list". Did you mean "offer list"?'],
  [["offer", "lst", "--json"], 'There is no command "offer lst". Did you mean "offer list"?'],
  [["key", "revke", "12"], 'There is no command "key revke 12". Did you mean "key revoke"?'],
  [["key", "make"], 'There is no command "key make".'],
])("%j is answered with what was probably meant", async (args, message) => {
  await expect(tracker(args)).rejects.toMatchObject({ message });
});

test("each file of commands is found by the first words of all its commands, and by no other", async () => {
  for (const { words, load } of COMMAND_FILES) {
    const first = (await load()).map(({ name }) => name.split(" ")[0] ?? "");
    expect(new Set(first)).toEqual(new Set(words));
  }
});

test("help lists every command and exits without an error", async () => {
  const help = await tracker(["--help"]);
  for (const { name, summary } of commands) expect(help).toMatch(new RegExp(`${name} +${summary}`));
  expect(await tracker([])).toBe(help);
  expect(await tracker(["help"])).toBe(help);
});

test.each(commands.map((command) => [command.name, command] as const))(
  "help for %s shows its options and an example within about 80 columns",
  async (name, command) => {
    const help = await tracker(["help", ...name.split(" ")]);
    expect(await tracker([...name.split(" "), "--help"])).toBe(help);
    for (const option of Object.keys(command.options)) expect(help).toContain(`--${option}`);
    for (const example of command.examples) {
      expect(example.startsWith(name)).toBe(true);
      expect(help).toContain(`npm run tracker -- ${example}`);
    }
  },
);

test("the first words of some commands list these", async () => {
  const help = await tracker(["help", "key"]);
  expect(help).toMatch(/key list[^]*key create[^]*key revoke/);
  expect(help).not.toContain("workspace create");
  expect(await tracker(["key", "--help"])).toBe(help);
  await expect(tracker(["key", "make"])).rejects.toMatchObject({ usage: help });
});

test("servers come from the environment, else from the run in DATA_DIR, else the error names what to set", () => {
  expect(() => findServers(["postgres", "nats"], NOWHERE, folder)).toThrow(
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
    findServers(["nats", "postgres"], { ...NOWHERE, nats: { url: "nats://b" } }, folder),
  ).toEqual({
    nats: { url: "nats://b" },
    postgres: { url: "postgres://a" },
  });
  writeFileSync(file, "{");
  expect(() => findServers(["nats"], NOWHERE, folder)).toThrow(/servers.json cannot be read/);
  expect(findServers(["nats"], { ...NOWHERE, nats: { url: "nats://b" } }, folder)).toEqual({
    nats: { url: "nats://b" },
  });
});

test("the slug of a workspace is made from its name unless one is given (G180)", () => {
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
