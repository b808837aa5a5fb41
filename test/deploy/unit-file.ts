import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { projectFile, projectRoot } from "../../schemas/host/project-root.ts";

const INSTALLED_AT = "/opt/tracker";

export type UnitPlaces = {
  /** What systemd puts in place of `%i`. */
  readonly instance?: string;
  /** `%S`: the folder of states. */
  readonly states: string;
  /** `%d`: the folder of the unit's credentials. */
  readonly credentials: string;
  /** The folder with the files that the unit expects in /etc/tracker. */
  readonly settings: string;
};

export type UnitProcess = {
  readonly command: string[];
  readonly env: Record<string, string>;
  /** The credentials that systemd would load, and their files on the host. */
  readonly credentials: { readonly name: string; readonly source: string }[];
};

/** The process that systemd starts for a service of deploy/systemd, with the project in place of /opt/tracker. */
export function processOf(unit: string, places: UnitPlaces): UnitProcess {
  const lines = readFileSync(projectFile("deploy", "systemd", unit), "utf8").split("\n");
  const values = (name: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${name}=`))
      .map((line) => expanded(line.slice(name.length + 1), places));
  const env = variablesIn(values("Environment").join(" ").split(" "));
  // Files win over lines, whatever their order.
  for (const file of values("EnvironmentFile")) Object.assign(env, readVariables(file));
  const [start = ""] = values("ExecStart");
  const command = start
    .split(" ")
    .map((word) => word.replace(/\$\{(\w+)\}/, (_, name: string) => env[name] ?? ""));
  const credentials = values("LoadCredential").map((line) => {
    const [name = "", source = ""] = line.split(":");
    return { name, source };
  });
  return { command, env, credentials };
}

function expanded(
  text: string,
  { instance = "", states, credentials, settings }: UnitPlaces,
): string {
  return text
    .replaceAll("%i", instance)
    .replaceAll("%S", states)
    .replaceAll("%d", credentials)
    .replaceAll("%H", hostname())
    .replaceAll(INSTALLED_AT, projectRoot)
    .replaceAll("/etc/tracker/", `${settings}/`);
}

/** A file with `-` before its name may be missing. */
function readVariables(file: string): Record<string, string> {
  try {
    const lines = readFileSync(file.replace(/^-/, ""), "utf8").split("\n");
    return variablesIn(lines.filter((line) => !line.startsWith("#")));
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (file.startsWith("-") && isMissing) return {};
    throw error;
  }
}

function variablesIn(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.flatMap((word) => {
      const match = /^(\w+)=(.*)$/.exec(word);
      return match === null ? [] : [[match[1] ?? "", match[2] ?? ""]];
    }),
  );
}
