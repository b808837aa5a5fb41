import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readSecretFile, SecretFileError } from "../../schemas/host/secret-file.ts";
import { carryMessages, MessageTooLongError } from "../mcp/stdio-bridge.ts";
import type { Command, CommandArguments, CommandEnvironment } from "./command.ts";
import { CommandError } from "./command-error.ts";

/** The part of `DATA_DIR/demo.json` that is used here. */
const DemoFile = z.looseObject({
  mcp_url: z.string(),
  keys: z.looseObject({ analyst: z.string() }),
});

export const mcpCommand: Command = {
  name: "mcp",
  summary: "MCP over standard input and output, for assistants that start programs",
  options: {
    url: {
      value: "URL",
      summary: "the MCP server; if left out, the server of the service of DATA_DIR",
    },
    "key-file": {
      value: "FILE",
      summary: "a file with an API key; the analyst key of the demo if left out",
    },
  },
  examples: ["mcp", "mcp --url https://api.example.com/mcp --key-file ~/.tracker-key"],
  notes:
    "Assistants that take an address can use the server directly, with the header `Authorization: Bearer <API_KEY>`. This command is " +
    "for those that only start programs. Use `npm run --silent`, because npm prints lines of its own otherwise.",
  run: async (given, environment) => {
    const { url, key } = serverOf(given, environment);
    try {
      await carryMessages({
        url,
        key,
        input: process.stdin,
        write: (line) => process.stdout.write(`${line}\n`),
      });
    } catch (error) {
      if (error instanceof MessageTooLongError) throw new CommandError(error.message);
      throw error;
    }
    return "";
  },
};

/** @throws {CommandError} */
function serverOf(
  given: CommandArguments,
  { dataDir, apiUrl }: CommandEnvironment,
): { readonly url: string; readonly key: string } {
  const demo = readDemo(join(dataDir, "demo.json"));
  const file = given.text("key-file");
  const key = file === undefined ? demo?.keys.analyst : keyOf(file);
  if (key === undefined) {
    throw new CommandError(
      "There is no demo in DATA_DIR: name a file with an API key by --key-file.",
    );
  }
  return { url: given.text("url") ?? demo?.mcp_url ?? `${apiUrl}/mcp`, key };
}

function keyOf(file: string): string {
  try {
    return readSecretFile(file);
  } catch (error) {
    if (error instanceof SecretFileError) throw new CommandError(`${error.message}.`);
    throw error;
  }
}

function readDemo(file: string): z.infer<typeof DemoFile> | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return DemoFile.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    throw new CommandError(`${file} is not the file that npm start writes.`, { cause: error });
  }
}
