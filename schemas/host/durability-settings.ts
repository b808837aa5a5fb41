import { httpUrls, natsUrls, oneOf, onOff, wholeNumber } from "./setting-types.ts";

const READERS = ["ingress", "processors", "api", "tracker"] as const;

/** What the servers must keep through a crash, and how they are asked about it. */
export const DURABILITY_SETTINGS = {
  DURABILITY: {
    type: oneOf(["relaxed", "strict"]),
    default: "strict",
    // Servers of a trial sync to the disk now and then, as they come. Servers of an installation of hosts are set up.
    launcherDefault: "relaxed",
    readBy: ["npm start", ...READERS],
    meaning:
      "`strict` refuses to start (exit code 4) while a server or disk is set up so that a crash can lose what was answered; `relaxed` does not look",
  },
  STRICT_SINGLE_SITE: {
    type: onOff,
    default: "0",
    readBy: ["npm start", ...READERS],
    meaning: "1 accepts one copy of each NATS stream with DURABILITY=strict, for one host",
  },
  STRICT_STANDBYS: {
    type: wholeNumber({ min: 0, max: 9 }),
    default: "1",
    readBy: ["npm start", ...READERS],
    meaning:
      "standbys of Postgres for which a commit must wait with DURABILITY=strict; 0 for one host",
  },
  NATS_SYS_URL: {
    type: natsUrls,
    unset: "NATS_MONITOR_URLS are asked",
    readBy: READERS,
    isSecret: true,
    meaning:
      "the same servers with a user of the system account, by which DURABILITY=strict asks whether they sync messages to disk",
  },
  NATS_MONITOR_URLS: {
    type: httpUrls,
    default: "",
    readBy: READERS,
    meaning:
      "the monitoring address of each NATS server, for the same question if there is no user of the system account",
  },
} as const;
