import type { Command } from "./command.ts";
import { withDatabase } from "./database.ts";
import { type Demo, makeDemo } from "./demo.ts";
import { makeMonthEnd } from "./demo-month-end.ts";

const demoCommand: Command = {
  name: "demo",
  summary: 'creates a workspace "demo" with sample data',
  options: {
    json: { summary: "as JSON" },
    "new-keys": { summary: "creates more keys for the existing demo" },
  },
  examples: ["demo --json"],
  run: async (given, environment) =>
    await withDatabase(environment, async (db) => {
      const made = await makeDemo(db, environment, { newKeys: given.has("new-keys") });
      return given.has("json") ? JSON.stringify(made, null, 2) : describeDemo(made);
    }),
};

const monthEndCommand: Command = {
  name: "demo month-end",
  summary: "gives the demo two closed months of money, a run that is paid and one that is open",
  options: {},
  examples: ["demo month-end"],
  notes:
    "All of it or nothing, and once: a demo with billing is left as it is. `npm start` runs it after\nthe traffic of a new demo.",
  run: async (_given, environment) => await makeMonthEnd(environment),
};

export const demoCommands: readonly Command[] = [demoCommand, monthEndCommand];

function describeDemo({ keys, links, ...rest }: Demo): string {
  const lines: [string, string | number][] = [
    ["REST API", rest.base_url],
    ["MCP", rest.mcp_url],
    ["Tracking", rest.tracking_url],
    ["Workspace", rest.workspace_id],
    ["Postback token", rest.postback_token],
    ["Advertiser's token", rest.advertiser_postback_token],
    ...Object.entries(keys).map(([role, key]): [string, string] => [`Key: ${role}`, key]),
    ...Object.entries(links).map(([kind, link]): [string, string] => [`Link: ${kind}`, link]),
  ];
  const width = Math.max(...lines.map(([title]) => title.length));
  return [
    "Workspace demo is ready. Its keys are shown only this once:",
    "",
    ...lines.map(([title, value]) => `  ${title.padEnd(width)}  ${value}`),
  ].join("\n");
}
