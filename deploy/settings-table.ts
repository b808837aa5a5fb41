import { SETTINGS, type SettingDefinition } from "../schemas/host/setting-definitions.ts";

const TABLE = /(<!-- settings: [^\n]*-->\n)[\s\S]*(<!-- end of settings -->)/;

/** The page with the table of all settings between its two marks. @throws {Error} when they are missing. */
export function withSettingsTable(page: string): string {
  if (!TABLE.test(page))
    throw new Error("deploy/pages/settings.md has lost the marks around its settings");
  return page.replace(TABLE, (_, begin: string, end: string) => `${begin}${renderTable()}\n${end}`);
}

function renderTable(): string {
  const rows = Object.entries<SettingDefinition>(SETTINGS).map(([name, definition]) => {
    const { type, default: value, launcherDefault, unset, requiredBy = [] } = definition;
    const { readBy, meaning } = definition;
    const others = requiredBy.length === 0 ? "" : `; required by ${requiredBy.join(", ")}`;
    const ofStart = launcherDefault === undefined ? "" : `; of \`npm start\` ${launcherDefault}`;
    const whenUnset = unset === undefined ? `${value || "empty"}${ofStart}` : `${unset}${others}`;
    const variable = definition.isSecret === true ? `${name} or ${name}_FILE` : name;
    return `| ${variable} | ${readBy.join(", ")} | ${type.accepts} | ${whenUnset} | ${meaning} |`;
  });
  return [
    "| variable | read by | value | when unset | meaning |",
    "|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
