import { SUB_IDS } from "../../../../../schemas/events/sub-ids.ts";
import type { Choice } from "../../client/choices.ts";

/** Sub IDs to choose from. */
export const SUB_CHOICES: readonly Choice[] = SUB_IDS.map((name) => [name, name]);
