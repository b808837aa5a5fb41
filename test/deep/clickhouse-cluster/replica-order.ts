import { z } from "zod";

/** What the program of a replica gets. */
export const ReplicaOrder = z.object({
  library: z.string(),
  configFile: z.string(),
  /** The address of its host. */
  address: z.string(),
  /** Replicas sign in to each other with these. */
  interserver: z.object({ user: z.string(), password: z.string() }),
  /** The addresses of all nodes, by shard. */
  shards: z.array(z.array(z.string())),
});
export type ReplicaOrder = z.infer<typeof ReplicaOrder>;
