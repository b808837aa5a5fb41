import { problemFrom } from "./problem.ts";
import type { Reader } from "./reports.ts";
import { saveFile } from "./save-file.ts";

/** Fetches a small file with the rights of this tab, byte for byte as the service keeps it, and saves it. @throws {Problem} */
export async function saveDocument(
  { membershipId }: Pick<Reader, "membershipId">,
  { path, name }: { readonly path: string; readonly name: string },
): Promise<void> {
  const headers = { "x-tracker-membership": String(membershipId) };
  const response = await fetch(path, { headers });
  if (!response.ok) throw problemFrom(response, await response.json());
  saveFile(name, [await response.arrayBuffer()], "application/octet-stream");
}
