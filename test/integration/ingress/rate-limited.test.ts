import { expect, test } from "vitest";
import { IngressFleet } from "../../system/ingress-fleet.ts";
import { until } from "../../system/until.ts";

const LIMIT = 5;
const REFUSED = 70;
const ROWS_OF_THEIR_OWN = 60;

test("a 429 has a row in the inbound log, and a flood of them few rows (#23, G152)", async () => {
  const env = { IP_REQUESTS_PER_MINUTE: String(LIMIT), TRUSTED_PROXIES: "127.0.0.1/32" };
  await using fleet = await IngressFleet.open({ lanes: 1, env });
  await fleet.untilCurrent();
  const report = async (order: number): Promise<number> => {
    const url = `http://127.0.0.1:${fleet.port}/pb?token=ws-token&txid=order-${order}`;
    const answer = await fetch(url, { headers: { "x-forwarded-for": "198.51.100.7" } });
    await answer.text();
    return answer.status;
  };
  const statuses: number[] = [];
  for (let order = 0; order < LIMIT + REFUSED; order += 1) statuses.push(await report(order));
  // One more request is allowed every 12 s.
  const refused = statuses.filter((status) => status === 429).length;
  expect(refused).toBeGreaterThan(ROWS_OF_THEIR_OWN);
  const rows = await until("the refusals are in the inbound log", async () => {
    const found = await fleet.world.rows(
      `select workspace_id, endpoint, http_status, message, params ->> 'txid' as txid
         from postback_log where result = 'rate_limited' order by ts`,
    );
    return found.length >= ROWS_OF_THEIR_OWN ? found : undefined;
  });
  expect(rows).toHaveLength(ROWS_OF_THEIR_OWN);
  expect(rows[0]).toMatchObject({
    workspace_id: fleet.world.workspaceId,
    endpoint: "pb",
    http_status: 429,
    message: "rate_limited",
    txid: `order-${LIMIT}`,
  });
}, 120_000);
