import type { DemoFile } from "./demo-installation.ts";
import type { PlannedCost } from "./plan-traffic.ts";

/** Sends what the visits cost to the REST API, as a script of the workspace would. @throws when the API refuses them. */
export async function sendCosts(
  costs: readonly PlannedCost[],
  { base_url, keys }: DemoFile,
  signal: AbortSignal,
): Promise<void> {
  if (costs.length === 0) return;
  const rows = costs.map(({ day, stream, cents }) => ({
    date: day,
    offer_id: stream.offer,
    affiliate_id: stream.partner,
    traffic_source: new URLSearchParams(stream.link.split("?")[1]).get("ts") ?? "",
    currency: "USD",
    amount: `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`,
  }));
  const answer = await fetch(`${base_url}/ad-costs`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys.admin}`, "content-type": "application/json" },
    body: JSON.stringify({ rows }),
    signal,
  });
  if (!answer.ok) throw new Error(`POST /ad-costs: ${answer.status} ${await answer.text()}`);
}
