import { problemFrom } from "./problem.ts";

/** Fetches a file with the rights of this tab and saves it. @throws {Problem} */
export async function saveCsv(
  url: string,
  name: string,
  membershipId = membershipOfPage(),
): Promise<void> {
  const response = await fetch(url, { headers: { "x-tracker-membership": membershipId } });
  if (!response.ok) throw problemFrom(response, await response.json());
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function membershipOfPage(): string {
  return document.documentElement.dataset["membership"] ?? "0";
}
