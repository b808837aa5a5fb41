import { SETTINGS, type SettingDefinition } from "../schemas/host/setting-definitions.ts";
import { withTable } from "./page-table.ts";

/** The page with the table of all settings between its two marks. @throws {Error} when they are missing. */
export function withSettingsTable(page: string): string {
  const rows = Object.entries<SettingDefinition>(SETTINGS).map(([name, definition]) => {
    const { type, default: value, launcherDefault, unset, requiredBy = [] } = definition;
    const { readBy, meaning } = definition;
    const others = requiredBy.length === 0 ? "" : `; required by ${requiredBy.join(", ")}`;
    const ofStart = launcherDefault === undefined ? "" : `; of \`npm start\` ${launcherDefault}`;
    const whenUnset = unset === undefined ? `${value || "empty"}${ofStart}` : `${unset}${others}`;
    const variable = definition.isSecret === true ? `${name} or ${name}_FILE` : name;
    return `| ${variable} | ${readBy.join(", ")} | ${type.accepts} | ${whenUnset} | ${meaning} |`;
  });
  const head = ["| variable | read by | value | when unset | meaning |", "|---|---|---|---|---|"];
  return withTable(page, "settings", [...head, ...rows]);
}
