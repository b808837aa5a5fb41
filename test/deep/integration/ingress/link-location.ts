import { until } from "../../../system/until.ts";

/** A change of the catalog is in force within a second; this limit is for hangs on a loaded machine. */
const HANG_MS = 20_000;
/** The link of the first offer of a test by its partner. */
const LINK = "/r/OFFER1/PARTNR";

/** The `Location` of a link on the tracking port, or the status of an answer without one. */
export async function locationOf(port: number, path = LINK): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: "manual" });
  await answer.arrayBuffer();
  return answer.headers.get("location") ?? String(answer.status);
}

export async function untilLeadsTo(port: number, location: string, path = LINK): Promise<void> {
  const leadsThere = async (): Promise<boolean> => (await locationOf(port, path)) === location;
  await until(`${path} leads to ${location}`, leadsThere, { timeoutMs: HANG_MS, pollMs: 10 });
}
