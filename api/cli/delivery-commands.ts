import type { Command } from "./command.ts";
import { withDatabase } from "./database.ts";
import { countWaiting, holdDeliveries, releaseDeliveries } from "./delivery-hold.ts";
import { noteInAllWorkspaces } from "./note-in-all-workspaces.ts";

const hold: Command = {
  name: "deliveries hold",
  summary: "sends no postback and no webhook until `deliveries release`",
  options: {},
  examples: ["deliveries hold"],
  notes: `Conversions are recorded and their deliveries wait. Those that are being sent at
this moment end as usual. Safe to repeat.`,
  run: async (_given, environment) =>
    await withDatabase(environment, async (db) => {
      await holdDeliveries(db, "tracker deliveries hold");
      await noteInAllWorkspaces(db, "cli deliveries hold");
      return `Deliveries are held. ${await waitingText(db)}`;
    }),
};

const release: Command = {
  name: "deliveries release",
  summary: "sends the deliveries that `deliveries hold` or `restored` holds",
  options: {},
  examples: ["deliveries release"],
  run: async (_given, environment) =>
    await withDatabase(environment, async (db) => {
      const waiting = await waitingText(db);
      const heldAt = await releaseDeliveries(db);
      if (heldAt === undefined) return "Deliveries were not held.";
      await noteInAllWorkspaces(db, "cli deliveries release");
      return `Deliveries were held since ${heldAt} and are sent from now on. ${waiting}`;
    }),
};

async function waitingText(db: Parameters<typeof countWaiting>[0]): Promise<string> {
  const { postbacks, webhooks } = await countWaiting(db);
  return `Waiting: ${postbacks} postbacks, ${webhooks} webhooks.`;
}

export const deliveryCommands: readonly Command[] = [hold, release];
