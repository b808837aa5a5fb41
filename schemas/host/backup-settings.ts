import { text } from "./setting-types.ts";

/** The archives of a one-machine run. */
export const BACKUP_SETTINGS = {
  BACKUP_PASSPHRASE: {
    type: text("at least 12 characters", /^.{12,1000}$/s),
    unset: "archives are not sealed",
    readBy: ["tracker"],
    isSecret: true,
    meaning: "seals the archives of `tracker backup` and opens them for `tracker restore`",
  },
} as const;
