/** A role of `tracker`: a process that runs until a signal ends it. */
export type ProgramRole = {
  readonly name: "ingress" | "processors" | "api";
  readonly summary: string;
  /** Options and their meaning. */
  readonly options: readonly (readonly [option: string, meaning: string])[];
  readonly notes: string;
};

/** The roles that `tracker <role>` runs, in the order of the help. */
export const PROGRAM_ROLES: readonly ProgramRole[] = [
  {
    name: "ingress",
    summary: "answers the tracking domain, with several workers on one port",
    options: [
      ["--workers N", "number of workers, 1 to 64; default: INGRESS_WORKERS, else cores"],
      ["--prepare", "starts nothing: downloads the C library that an old system lacks"],
    ],
    notes: `Worker i has the operations port OPS_PORT + i. A worker that dies is started again.
SIGHUP restarts the workers one by one, SIGTERM drains all of them.`,
  },
  {
    name: "processors",
    summary: "stores clicks, records conversions, sends postbacks; ROLES selects the work",
    options: [],
    notes: "Any number of them share the work. SIGTERM finishes what is under way.",
  },
  {
    name: "api",
    summary: "serves REST and MCP",
    options: [],
    notes: "Any number of them may run. SIGTERM drains it.",
  },
];
