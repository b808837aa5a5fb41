import type { FormField } from "../../records/form-field.ts";

/** For deals and product feeds. */
export const DEAL_STATUS: FormField = {
  name: "status",
  label: "Status",
  choices: [
    ["active", "Active"],
    ["inactive", "Inactive"],
  ],
};
