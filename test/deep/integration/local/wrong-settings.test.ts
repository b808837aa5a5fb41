import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { projectFile } from "../../../../schemas/host/project-root.ts";
import { SECRETS_KEY } from "../../../samples/secret-keys.ts";

const PROGRAMS = [
  ["npm start", "deploy/local/main.js"],
  ["ingress", "ingress/main.js"],
  ["processors", "processors/main.js"],
  ["api", "api/main.js"],
  ["tracker", "api/tracker.js"],
] as const;

/** Nothing listens on this port: a process that continued would fail to connect. */
const SERVERS = {
  SECRETS_KEY,
  POSTGRES_URL: "postgres://tracker:hush@127.0.0.1:1/tracker",
  NATS_URL: "nats://tracker:hush@127.0.0.1:1",
  CLICKHOUSE_URL: "http://tracker:hush@127.0.0.1:1/tracker",
};

test.each(PROGRAMS)(
  "wrong settings end %s with code 2 and one message about all of them",
  async (name, program) => {
    const { code, output } = await run(program, {
      NATS_URL: "tracker:hush@127.0.0.1:4222",
      CLICKHOUSE_URL: "clickhouse://tracker:hush@127.0.0.1",
      BIND_ADDRESS: "localhost",
      TRUSTED_PROXIES: "10.0.0.0/8, 10.0.0.0/33",
      LOG_LEVEL: "loud",
    });
    expect(code).toBe(2);
    expect(output).toContain(`The settings of ${name} are wrong:`);
    expect(output).toMatch(/NATS_URL: expected .*nats:\/\//);
    expect(output).not.toContain("hush");
    for (const [reader, variable, given] of [
      ["npm start ingress api tracker", "BIND_ADDRESS", '"localhost"'],
      ["npm start ingress api", "TRUSTED_PROXIES", '"10.0.0.0/8, 10.0.0.0/33"'],
      ["npm start ingress processors api", "LOG_LEVEL", '"loud"'],
    ] as const) {
      if (!reader.includes(name)) continue;
      expect(output).toMatch(new RegExp(`${variable}: expected .*, got ${given}`));
    }
  },
);

test.each(PROGRAMS.slice(1, 4))(
  "%s without a server that it needs ends with code 2",
  async (_name, program) => {
    const { code, output } = await run(program, { POSTGRES_URL: "" });
    expect(code).toBe(2);
    expect(output).toMatch(/POSTGRES_URL: expected .*, but it is not set/);
  },
);

test.each(PROGRAMS)(
  "%s reports a mistyped setting once, with the one that was meant",
  async (_name, program) => {
    // A wrong setting ends each program at once.
    const { output } = await run(program, {
      TRACKING_PROT: "9000",
      BIND_ADDRESS: "localhost",
      LOG_LEVEL: "loud",
    });
    expect(output.match(/TRACKING_PROT is not a setting/g)).toHaveLength(1);
    expect(output).toContain("Did you mean TRACKING_PORT?");
  },
);

/** Runs the program with only these settings in its environment. */
async function run(
  program: string,
  settings: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const args = [
    projectFile(".build", program),
    ...(program.endsWith("tracker.js") ? ["workspace", "list"] : []),
  ];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], DATA_DIR: "/nowhere", ...SERVERS, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: child.exitCode, output: `${stdout}${stderr}`.replace(/\s+/g, " ") };
}
