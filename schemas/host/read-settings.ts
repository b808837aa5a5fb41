import { removedSettings } from "./removed-settings.ts";
import { readSecretFile, type Secret, SecretFileError } from "./secret-file.ts";
import { contradictionsOf } from "./setting-contradictions.ts";
import { type Process, SETTINGS, type SettingDefinition } from "./setting-definitions.ts";
import type { SettingType } from "./setting-types.ts";
import { unknownSettings } from "./unknown-settings.ts";

/** Every process ends with this code when its settings are wrong. */
export const EXIT_WRONG_SETTINGS = 2;

const SHOWN_LENGTH_MAX = 200;

/** Invalid settings. After its first line, `message` has one line for each of them. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";

  constructor(reader: Process, faults: readonly string[]) {
    super([`The settings of ${reader} are wrong:`, ...faults].join("\n"));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
type Definitions = typeof SETTINGS;
type Name = keyof Definitions;

type ValueOf<N extends Name> = Definitions[N] extends { readonly isReread: true }
  ? Secret
  : Definitions[N]["type"] extends SettingType<infer Value>
    ? Value
    : never;

type AbsentOf<N extends Name, P extends Process> = Definitions[N] extends {
  readonly default: string;
}
  ? never
  : Definitions[N] extends { readonly requiredBy: readonly (infer Needing)[] }
    ? P extends Needing
      ? never
      : undefined
    : undefined;

/** The values that a process reads, by the names of their variables. */
export type SettingsOf<P extends Process> = {
  readonly [N in Name as P extends Definitions[N]["readBy"][number] ? N : never]:
    | ValueOf<N>
    | AbsentOf<N, P>;
};

/**
 * Reads the settings of a process from environment variables. An empty variable counts as unset. A secret may stand in a file that
 * `<name>_FILE` names. `npm start` checks the settings of all processes, because it passes them on.
 * @throws {SettingsError} that names every wrong variable at once, or the variables that contradict each other.
 */
export function readSettings<P extends Process>(
  reader: P,
  environment: Environment,
): SettingsOf<P> {
  const faults = removedSettings(reader, environment);
  const values: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries<SettingDefinition>(SETTINGS)) {
    if (reader !== "npm start" && !definition.readBy.includes(reader)) continue;
    const given = givenFor(name, withDefaultOf(reader, definition), environment);
    const value = given.text === undefined ? undefined : definition.type.parse(given.text);
    const fault =
      given.fault ?? (value === undefined ? faultOf(given, definition, reader) : undefined);
    if (fault !== undefined) faults.push(fault);
    values[name] = definition.isReread === true ? secretOf(given) : value;
  }
  if (faults.length === 0) faults.push(...contradictionsOf(values));
  if (faults.length > 0) throw new SettingsError(reader, faults);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value was parsed by the type of its definition
  return values as SettingsOf<P>;
}

/**
 * Returns the result of `read`, and reports variables that look like a mistyped setting. If the settings are invalid, reports that, sets the
 * exit code and returns undefined.
 */
export function settingsOrUndefined<Settings>(read: () => Settings): Settings | undefined {
  const { env } = process;
  // A parent that passes its environment on has reported them.
  if (env["EXIT_WITH_PARENT"] !== "1") {
    for (const sentence of unknownSettings(env)) process.stderr.write(`${sentence}\n`);
  }
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT_WRONG_SETTINGS;
    return undefined;
  }
}

function withDefaultOf(reader: Process, definition: SettingDefinition): SettingDefinition {
  const { launcherDefault } = definition;
  if (reader !== "npm start" || launcherDefault === undefined) return definition;
  return { ...definition, default: launcherDefault };
}

/** The fault of a setting without a value; undefined if it may be absent. */
function faultOf(
  { name, text }: Given,
  { type, isSecret, requiredBy }: SettingDefinition,
  reader: Process,
): string | undefined {
  const expected = `${name}: expected ${type.accepts}`;
  if (text === undefined) {
    return requiredBy?.includes(reader) === true ? `${expected}, but it is not set` : undefined;
  }
  return isSecret === true
    ? `${expected}; the value is not shown because it may hold a password`
    : `${expected}, got ${JSON.stringify(text.slice(0, SHOWN_LENGTH_MAX))}`;
}

/** What the environment says about a setting, and the variable that says it. */
type Given = {
  readonly name: string;
  readonly text?: string | undefined;
  readonly file?: string;
  readonly fault?: string;
};

function givenFor(name: string, definition: SettingDefinition, environment: Environment): Given {
  const text = environment[name] || undefined;
  const fileVariable = `${name}_FILE`;
  const file = definition.isSecret === true ? environment[fileVariable] || undefined : undefined;
  if (file === undefined) return { name, text: text ?? definition.default };
  if (text !== undefined) {
    return { name, fault: `${name} and ${fileVariable}: both are set, expected only one of them` };
  }
  try {
    return { name: fileVariable, text: readSecretFile(file), file };
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error;
    return { name: fileVariable, fault: `${fileVariable}: ${error.message}` };
  }
}

function secretOf({ text, file }: Given): Secret | undefined {
  if (file !== undefined) return () => readSecretFile(file);
  return text === undefined ? undefined : () => text;
}
