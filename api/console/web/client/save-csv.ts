import { problemFrom } from "./problem.ts";
import type { Reader } from "./reports.ts";

/** Fetches a file with the rights of this tab, because a link would send no header with the membership, and saves it. @throws {Problem} */
export async function saveCsv(
  { membershipId }: Pick<Reader, "membershipId">,
  path: string,
  name: string,
): Promise<void> {
  const headers = { "x-tracker-membership": String(membershipId) };
  const response = await fetch(path, { headers });
  if (!response.ok) throw problemFrom(response, await response.json());
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
