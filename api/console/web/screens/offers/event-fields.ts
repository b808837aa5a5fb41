import { EVENT } from "../../../../../.build/console/forms.js";
import type { FormField } from "../../records/form-field.ts";

export const EVENT_CODE: readonly FormField[] = EVENT.code;
/** Terms of an event. */
export const EVENT_FIELDS: readonly FormField[] = [
  ...EVENT.name,
  ...EVENT.payout,
  ...EVENT.revenue,
  ...EVENT.flags,
];
