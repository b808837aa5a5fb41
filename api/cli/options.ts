import type { CommandOption } from "./command.ts";

/*
 * Options that many commands have.
 */

export const IN_WORKSPACE = {
  workspace: { value: "S", summary: "slug of the workspace", isRequired: true },
} as const satisfies Record<string, CommandOption>;

export const JSON_OUTPUT = {
  json: { summary: "all fields as JSON, for programs" },
} as const satisfies Record<string, CommandOption>;

/** `--set active|inactive`. */
export const SET_STATUS = {
  set: { value: "active|inactive", summary: "the new status", isRequired: true },
} as const satisfies Record<string, CommandOption>;
