import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parse } from "yaml";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";

export const COMPOSE = projectFile("deploy", "compose");

const Secret = z.union([z.string(), z.object({ source: z.string(), target: z.string() })]);
const Service = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).default([]),
  entrypoint: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  secrets: z.array(Secret).default([]),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  networks: z.array(z.string()).default([]),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).default([]),
  cap_add: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
});
export type ComposeService = z.infer<typeof Service>;

const ComposeFile = z.looseObject({
  services: z.record(z.string(), Service),
  volumes: z.record(z.string(), z.unknown()),
  networks: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});
export type ComposeFile = z.infer<typeof ComposeFile>;

/** compose.yaml with the values of `.env.example`, as `docker compose config` shows it. */
export function readComposeFile(): ComposeFile {
  const values = parseEnv(readFileSync(join(COMPOSE, ".env.example"), "utf8"));
  const text = readFileSync(join(COMPOSE, "compose.yaml"), "utf8");
  return ComposeFile.parse(parse(interpolate(text, values), { merge: true }));
}

/** `${NAME:-default}` and `${NAME:?message}`. @throws {Error} when a variable without a default has no value. */
function interpolate(text: string, values: Readonly<Record<string, string | undefined>>): string {
  return text.replace(
    /\$\{([A-Z_]+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind: string | undefined, rest: string | undefined) => {
      const value = values[name] || (kind === "-" ? rest : undefined);
      if (value === undefined) throw new Error(`${name} is not in .env.example`);
      return value;
    },
  );
}
