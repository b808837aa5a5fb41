import { durations, onOff, ports } from "./setting-types.ts";

const retryWaits = {
  type: durations({ max: 50 }),
  default: "5s,30s,2m,10m,30m,1h,3h,6h,12h,24h,24h",
  readBy: ["processors"],
} as const;

/** Postbacks and webhooks: where they may go, and how long they are tried. */
export const DELIVERY_SETTINGS = {
  ALLOW_PRIVATE_DESTINATIONS: {
    type: onOff,
    default: "0",
    readBy: ["processors", "api"],
    meaning:
      "1 lets webhooks and postbacks reach loopback addresses, for trying it out; never the ports of this installation",
  },
  OWN_PORTS: {
    type: ports,
    default: "",
    readBy: ["processors", "api"],
    meaning:
      "ports of this machine that webhooks and postbacks never reach, besides those that other settings name; `npm start` sets it",
  },
  POSTBACK_RETRY_SCHEDULE: {
    ...retryWaits,
    meaning: "waits between the attempts to deliver a partner postback, ±20 % (G126)",
  },
  WEBHOOK_RETRY_SCHEDULE: {
    ...retryWaits,
    meaning: "waits between the attempts to deliver a webhook, ±20 % (G130)",
  },
} as const;
