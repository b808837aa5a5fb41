/**
 * A step of `npm run build`: writes the networks of the install in `.build` (or in the folder that is named) as the file that ingress reads
 * at its start. Does nothing if the file is there and comes from the installed package.
 */
import { join, resolve } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { readAsnFile, writeAsnFile } from "./asn-file.ts";
import { ASN_FILE, installedAsnSource, parseAsnSource } from "./open-asn-table.ts";

const file = join(resolve(process.argv[2] ?? projectFile(".build")), ASN_FILE);
const source = installedAsnSource();
if (!isCurrent()) writeAsnFile(file, source, await parseAsnSource(source));

function isCurrent(): boolean {
  try {
    readAsnFile(file, source);
    return true;
  } catch {
    return false;
  }
}
