import { createHash } from "node:crypto";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { migrationFiles, STORES } from "../../schemas/versions/migration-files.ts";
import { formFaults, messageForms } from "./message-forms.ts";

/** Written by `npm run schema:release` with each release. */
export const RELEASED_FILE = projectFile("schemas", "versions", "released.json");

const Hashes = z.record(z.string(), z.string());

/** What the newest release has shipped, and what must stay as it is. */
export const Released = z.object({
  release: z.string(),
  /** SHA-256 of each migration with what it includes, by store and file. */
  migrations: z.object({ postgres: Hashes, clickhouse: Hashes }),
  /** JSON Schema of each message between processes. */
  messages: z.record(z.string(), z.record(z.string(), z.unknown())),
});
export type Released = z.infer<typeof Released>;

/** What this checkout would ship as `release`. */
export function releaseOf(release: string): Released {
  const [postgres = {}, clickhouse = {}] = STORES.map((store) =>
    Object.fromEntries(
      migrationFiles(store).map(({ name, sql }) => [
        name,
        createHash("sha256").update(sql).digest("hex"),
      ]),
    ),
  );
  return { release, migrations: { postgres, clickhouse }, messages: messageForms() };
}

/** What of a release this checkout has changed, so that the two cannot run side by side. */
export function releasedFaults(released: Released, current: Released): string[] {
  const files = STORES.flatMap((store) =>
    Object.entries(released.migrations[store])
      .filter(([name, hash]) => current.migrations[store][name] !== hash)
      .map(
        ([name]) =>
          `${store}/migrations/${name}, or a file that it includes, was changed after its release ${released.release}`,
      ),
  );
  const messages = Object.entries(released.messages).flatMap(([name, form]) =>
    formFaults(form, current.messages[name], name),
  );
  return [...files, ...messages];
}
