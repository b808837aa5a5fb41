import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { z } from "zod";
import type { Log } from "../../schemas/host/log.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { parseAsnCsv } from "./asn-csv.ts";
import { type AsnSource, readAsnFile } from "./asn-file.ts";
import { type AsnColumns, AsnTable } from "./asn-table.ts";

const PACKAGE = "@ip-location-db/asn";
/** Beside the compiled code. `npm run build` writes it. */
export const ASN_FILE = "asn-table.bin";
const BUILT_FILE = projectFile(".build", ASN_FILE);

const Manifest = z.object({ version: z.string() });

/** The CSV files of the install. */
export function installedAsnSource(): AsnSource {
  // The package contains data and no module: the files are found through their names.
  const { resolve } = createRequire(import.meta.url);
  // oxlint-disable-next-line eslint/no-restricted-properties -- a file of the install
  const manifest: unknown = JSON.parse(readFileSync(resolve(`${PACKAGE}/package.json`), "utf8"));
  return {
    v4: resolve(`${PACKAGE}/asn-ipv4-num.csv`),
    v6: resolve(`${PACKAGE}/asn-ipv6-num.csv`),
    version: Manifest.parse(manifest).version,
  };
}

export async function parseAsnSource({ v4, v6 }: AsnSource): Promise<AsnColumns> {
  return parseAsnCsv({ v4: await readFile(v4), v6: await readFile(v6) });
}

/**
 * The networks of the install. Without a usable file of the build they are read from the CSV files, which takes half a second of
 * processor time and answers the same.
 */
export async function openAsnTable({
  log,
  file = BUILT_FILE,
  source = installedAsnSource(),
}: {
  readonly log: Log;
  readonly file?: string;
  readonly source?: AsnSource;
}): Promise<AsnTable> {
  return new AsnTable(builtColumns(file, source, log) ?? (await parseAsnSource(source)));
}

function builtColumns(file: string, source: AsnSource, log: Log): AsnColumns | undefined {
  try {
    return readAsnFile(file, source);
  } catch (error) {
    log.warn({ err: error, file, remedy: "npm run build" }, "geo.network-table-not-usable");
    return undefined;
  }
}
