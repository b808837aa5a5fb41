import { z } from "zod";

const Signal = z.enum(["SIGTERM", "SIGINT", "SIGQUIT", "SIGKILL"]);

/** What the launcher tells a leash: which server to run, as whom, and how to end it. */
export const LeashOrder = z.object({
  command: z.string(),
  args: z.array(z.string()),
  account: z.object({ uid: z.int(), gid: z.int() }).optional(),
  /** Where the server's own process is recorded, for a next start that finds it without its leash. */
  recordFile: z.string(),
  stopSignal: Signal,
  /** Time between the two signals. */
  deadlineMs: z.int().positive(),
  forceSignal: Signal,
});
export type LeashOrder = z.infer<typeof LeashOrder>;
