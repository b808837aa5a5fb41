import type { FormField } from "../../records/form-field.ts";

/** For rules that can be paused. */
export const STATUS: FormField = {
  name: "status",
  label: "Status",
  choices: [
    ["active", "Active"],
    ["paused", "Paused"],
  ],
};
export const STATES = { on: "active", off: "paused" } as const;
