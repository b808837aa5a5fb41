import type { Command } from "../command.ts";
import { wrapped } from "../help.ts";
import { JSON_OUTPUT } from "../options.ts";
import { findServers } from "../servers.ts";
import { edgeLines } from "./edge-lines.ts";
import { hostLines, secretLines, tlsLines } from "./host-lines.ts";
import { processLines } from "./process-lines.ts";
import type { ReportLine } from "./report-line.ts";
import { serverLines } from "./server-lines.ts";

const STATE_WIDTH = 7;
const INDENT = " ".repeat(STATE_WIDTH + 1);

export const doctorCommand: Command = {
  name: "doctor",
  summary: "looks for what is set up wrong on the servers and on this host",
  options: {
    strict: { summary: "fails where DURABILITY=strict would refuse to start" },
    url: {
      value: "LINK",
      summary: "sends a click to this tracking link, and looks at what was stored",
    },
    ...JSON_OUTPUT,
  },
  examples: ["doctor", "doctor --strict --url https://go.example.com/r/abc"],
  notes:
    "Each line is ok, warn or refuse. Exit code 0, or 1 if a line says refuse. Run it with the environment of the processes,\n" +
    "on the host of an ingress: it looks at the disk, the limits and the kernel of the host on which it runs.",
  run: async (given, { servers: asked, dataDir, natsSpace, durability, secretFiles }, terminal) => {
    const servers = findServers(["postgres", "nats", "clickhouse"], asked, dataDir);
    const isStrict = given.has("strict") || durability.level === "strict";
    const url = given.text("url");
    const lines: readonly ReportLine[] = [
      ...(await serverLines({ servers, natsSpace, durability, isStrict })),
      ...(await processLines(servers.postgres)),
      ...hostLines(dataDir, isStrict),
      ...secretLines(dataDir, secretFiles),
      ...tlsLines({
        POSTGRES_URL: servers.postgres.url,
        NATS_URL: servers.nats.url,
        CLICKHOUSE_URL: servers.clickhouse.url,
      }),
      ...(url === undefined ? [] : await edgeLines(url, servers)),
    ];
    if (lines.some(({ state }) => state === "refuse")) terminal.markFailed?.();
    if (given.has("json")) return JSON.stringify(lines, null, 2);
    return lines.map((line) => written(line)).join("\n");
  },
};

/** The whole sentence, wrapped: its end is the remedy. */
function written({ state, subject, text }: ReportLine): string {
  return wrapped(state.padEnd(STATE_WIDTH), `${subject}: ${text}`.split(" "), INDENT);
}
