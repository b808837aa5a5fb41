import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { newSecretKey, SECRETS_KEY_NAME } from "../../schemas/secrets/secret-keys.ts";
import { storedSecret } from "./kept-files.ts";

/** The output of `tracker person demo-links`, and the content of `DATA_DIR/console.json`. */
export const DemoLinks = z.object({ sign_in_links: z.record(z.string(), z.string()) });

/** The output of `tracker person first-link --json`. */
export const FirstLink = z.object({ link: z.string(), hours: z.int() });

/** The file with CONSOLE_SECRET, made at the first start. */
function consoleSecretFile(dataDir: string): string {
  const file = join(dataDir, "console.secret");
  storedSecret(file);
  return file;
}

/** The file with the ring of SECRETS_KEY, made with one key at the first start. */
function secretsKeyFile(dataDir: string): string {
  const file = join(dataDir, SECRETS_KEY_NAME);
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, `${newSecretKey()}\n`, { mode: 0o600 });
    renameSync(draft, file);
  }
  return file;
}

/** The files of secrets that the environment does not give. Each is made at the first start. */
export function madeSecrets(
  env: Readonly<Record<string, string>>,
  dataDir: string,
): Record<string, string> {
  const isGiven = (name: string): boolean => name in env || `${name}_FILE` in env;
  return {
    ...(isGiven("CONSOLE_SECRET") ? {} : { CONSOLE_SECRET_FILE: consoleSecretFile(dataDir) }),
    ...(isGiven("SECRETS_KEY") ? {} : { SECRETS_KEY_FILE: secretsKeyFile(dataDir) }),
  };
}

/** Only the owner may read the file, because it contains links by which one signs in. */
export function writeDemoLinks(dataDir: string, links: z.infer<typeof DemoLinks>): void {
  const file = join(dataDir, "console.json");
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(links, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
