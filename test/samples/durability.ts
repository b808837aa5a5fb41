import type { DurabilitySettings } from "../../schemas/checks/check.ts";

/** The settings of an installation that sets none of them. */
export const RELAXED: DurabilitySettings = {
  level: "relaxed",
  singleSite: false,
  standbys: 1,
  natsSystemUrl: undefined,
  natsMonitorUrls: [],
};
