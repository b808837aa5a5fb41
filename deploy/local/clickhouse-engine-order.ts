import { z } from "zod";

/** What the launcher tells the engine process. The password comes by file: arguments are visible to every user. */
export const ClickhouseEngineOrder = z.object({
  library: z.string(),
  configFile: z.string(),
  /** `http://host:port` */
  address: z.string(),
  user: z.string(),
  passwordFile: z.string(),
});
export type ClickhouseEngineOrder = z.infer<typeof ClickhouseEngineOrder>;
