import { z } from "zod";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { repeatAllErasures } from "../../schemas/erasure/erasures.ts";
import { presentFields } from "../http/patch.ts";
import { createErasure } from "../traffic/erasures/create-erasure.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { IN_WORKSPACE } from "./options.ts";
import { findServers } from "./servers.ts";
import { answerOf, inWorkspace } from "./session.ts";

const Answer = z.object({
  data: z.object({
    clicks: z.int(),
    conversions: z.int(),
    log_rows: z.int(),
    deliveries: z.int(),
  }),
});

const erasePerson: Command = {
  name: "person erase",
  summary: "erases a visitor's data in a workspace; no report changes",
  options: {
    ...IN_WORKSPACE,
    click: { value: "CLICK_ID", summary: "a click of the visitor" },
    email: { value: "ADDRESS", summary: "the visitor's e-mail, as an advertiser reported it" },
    ip: { value: "ADDRESS", summary: "an IP address, cleared everywhere" },
  },
  examples: ["person erase --workspace acme --email jane@shop.example"],
  notes:
    "Give exactly one of --click, --email and --ip. The same as POST /erasures. A second call changes nothing.",
  run: async (given, environment) => {
    const fields = {
      click_id: given.text("click"),
      email: given.text("email"),
      ip: given.text("ip"),
    };
    const body = presentFields(fields);
    if (Object.keys(body).length !== 1)
      throw new UsageError("Give exactly one of --click, --email and --ip.");
    return await inWorkspace({ command: "person erase", given, environment }, async (session) => {
      const { servers, dataDir } = environment;
      const { clickhouse: server } = findServers(["clickhouse"], servers, dataDir);
      const clickhouse = openClickhouse({ ...server, applicationName: "tracker" });
      try {
        // No other command gives the context access to ClickHouse.
        const context = Object.defineProperty(session.context, "clickhouse", { value: clickhouse });
        const { data } = Answer.parse(
          await answerOf({ ...session, context }, createErasure, { body }),
        );
        return `Cleared: ${data.clicks} clicks, ${data.conversions} conversions, ${data.log_rows} rows of the inbound log, ${data.deliveries} deliveries.`;
      } finally {
        await clickhouse.close();
      }
    });
  },
};

const repeatErasures: Command = {
  name: "person repeat-erasures",
  summary: "repeats all erasures, after Postgres or ClickHouse was restored from a backup",
  options: {},
  examples: ["person repeat-erasures"],
  notes:
    "A processor with the role `schedule` repeats them one by one. `tracker restored` and an automatically detected restore do the same.",
  run: async (_given, environment) =>
    await withDatabase(environment, async (db) => {
      const count = await repeatAllErasures(db);
      return `${count} erasures are due again; the role \`schedule\` repeats them.`;
    }),
};

export const erasureCommands: readonly Command[] = [erasePerson, repeatErasures];
