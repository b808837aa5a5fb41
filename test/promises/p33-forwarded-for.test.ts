import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IngressFleet } from "../system/ingress-fleet.ts";
import { forEachConcurrently, RawConnection, rawRequest } from "../system/raw-http.ts";
import { SEED } from "../system/seed.ts";
import { IS_FULL, reportCases } from "./report-cases.ts";

const CHAINS = IS_FULL ? 20_000 : 1_500;
const REPORTS = IS_FULL ? 1_000 : 80;
const CONNECTIONS = 16;

const TRUSTED_PEER = "127.0.0.1";
const OTHER_PEER = "127.0.0.9";
const LISTED = "203.0.113.7";

let fleet: IngressFleet;

beforeAll(async () => {
  fleet = await IngressFleet.open({
    lanes: 1,
    env: { TRUSTED_PROXIES: "127.0.0.1,10.0.0.0/8,2001:db8:cafe::/48,192.0.2.7" },
  });
  const { world } = fleet;
  world.startWriters();
  await world.addOffer();
  await world.change("update advertiser set postback_ip_allowlist = $1", [[LISTED]]);
  await fleet.untilCurrent();
});

afterAll(async () => {
  await fleet[Symbol.asyncDispose]();
});

/** An address in its normal form, and one of the spellings that a proxy may use. */
type SpelledAddress = { readonly ip: string; readonly text: string };

const v4 = fc
  .tuple(fc.integer({ min: 1, max: 254 }), fc.integer({ min: 0, max: 255 }))
  .map(([third, last]) => `198.51.${third}.${last}`);
const outsider: fc.Arbitrary<SpelledAddress> = fc.oneof(
  v4.map((ip) => ({ ip, text: ip })),
  v4.map((ip) => ({ ip, text: `${ip}:51234` })),
  v4.map((ip) => ({ ip, text: `::ffff:${ip}` })),
  fc.constantFrom(
    { ip: LISTED, text: LISTED },
    { ip: "2001:db8:1::9", text: "2001:db8:1::9" },
    { ip: "2001:db8:1::9", text: "[2001:DB8:1::9]:443" },
    { ip: "2001:db8:1::9", text: "2001:0db8:0001:0000:0000:0000:0000:0009" },
    { ip: "2001:db8:caff::1", text: "2001:db8:caff::1" },
    { ip: "11.0.0.1", text: "11.0.0.1" },
    { ip: "127.0.0.2", text: "127.0.0.2" },
  ),
);
// biome-ignore format: one value per line would hide them
const proxy = fc.constantFrom(
  "10.1.2.3", "::ffff:10.9.9.9", "2001:db8:cafe::5", "[2001:db8:cafe::5]:80", "192.0.2.7",
  "10.255.255.255:8080", "127.0.0.1", " 10.0.0.1 ", "\t10.0.0.1",
);
// biome-ignore format: one value per line would hide them
const junk = fc.constantFrom(
  "unknown", "_hidden", "", " ", "999.1.1.1", "10.1.2.3.4", "0x0a.1.2.3", "::1::", "[10.0.0.1",
  "for=10.0.0.1", '"10.0.0.1"', "10.0.0.1/8", "localhost", "a".repeat(300), "%00", LISTED,
);

/** The values that a visitor sent, the address that our outermost proxy saw, and the proxies behind it. */
type Chain = {
  readonly forged: readonly string[];
  readonly client: SpelledAddress;
  readonly hops: readonly string[];
};
const chain: fc.Arbitrary<Chain> = fc.record({
  forged: fc.array(
    fc.oneof(
      junk,
      proxy,
      outsider.map(({ text }) => text),
    ),
    { maxLength: 6 },
  ),
  client: outsider,
  hops: fc.array(proxy, { maxLength: 4 }),
});

function headerOf({ forged, client, hops }: Chain, separator: string): string {
  return `X-Forwarded-For: ${[...forged, client.text, ...hops].join(separator)}`;
}

/** A header for each hop, as some proxies write it. They count as one header, in order (RFC 9110 5.3). */
function linesOf({ forged, client, hops }: Chain): string[] {
  return [...forged, client.text, ...hops].map((hop) => `X-Forwarded-For: ${hop}`);
}

/** Sends one click per entry from the address. Returns the recorded visitor addresses, in order. */
async function recordedIps(
  run: string,
  from: string,
  headers: readonly (readonly string[])[],
): Promise<string[]> {
  const numbered = headers.map((lines, number) => ({ lines, number }));
  const perConnection = Math.ceil(numbered.length / CONNECTIONS);
  const groups = Array.from({ length: CONNECTIONS }, (_, i) =>
    numbered.slice(i * perConnection, (i + 1) * perConnection),
  );
  await forEachConcurrently(groups, CONNECTIONS, async (group) => {
    const connection = await RawConnection.open(fleet.port, { localAddress: from });
    for (const { lines, number } of group) {
      connection.send(
        rawRequest(`/r/OFFER1/PARTNR?sub1=${run}&sub2=${number}`, { headers: lines }),
      );
      expect((await connection.answer())?.status).toBe(302);
    }
    connection.destroy();
  });
  const clicks = await fleet.untilShipped(headers.length, ({ sub1 }) => sub1 === run);
  const byNumber = new Map(clicks.map(({ click }) => [Number(click.sub2), click.ip]));
  return headers.map((_, number) => byNumber.get(number) ?? "none");
}

function differences(chains: readonly Chain[], recorded: readonly string[]): unknown[] {
  return chains.flatMap((sent, i) =>
    recorded[i] === sent.client.ip ? [] : [{ sent, recorded: recorded[i] }],
  );
}

test(`only the trusted suffix counts, in ${CHAINS} chains by a trusted proxy (P33)`, async (context) => {
  const chains = fc.sample(chain, { numRuns: CHAINS, seed: SEED });
  const recorded = await recordedIps(
    `one${SEED}`,
    TRUSTED_PEER,
    chains.map((sent, i) => [headerOf(sent, i % 2 === 0 ? ", " : ",")]),
  );
  const wrong = differences(chains, recorded);
  reportCases(context, { cases: chains.length, violations: wrong.length });
  expect(wrong.slice(0, 10)).toEqual([]);
});

test("several header lines form one chain, so a proxy's line after the visitor's counts (P33)", async () => {
  const chains = fc.sample(chain, { numRuns: Math.floor(CHAINS / 3), seed: SEED + 1 });
  const recorded = await recordedIps(`lines${SEED}`, TRUSTED_PEER, chains.map(linesOf));
  expect(differences(chains, recorded).slice(0, 10)).toEqual([]);
});

test("a peer that is not a trusted proxy is recorded itself, whatever it sends (P33)", async () => {
  const chains = fc.sample(chain, { numRuns: Math.floor(CHAINS / 3), seed: SEED + 2 });
  const headers = chains.map((sent) => [headerOf(sent, ",")]);
  const recorded = await recordedIps(`peer${SEED}`, OTHER_PEER, headers);
  expect([...new Set(recorded)]).toEqual([OTHER_PEER]);
});

test("a report passes an advertiser's IP allow-list only if its client is on it, for any chain (P33)", async () => {
  const { world } = fleet;
  const onList = fc.boolean().chain((isListed) =>
    chain.map((sent) => ({
      ...sent,
      forged: [...sent.forged, LISTED],
      client: isListed ? { ip: LISTED, text: LISTED } : sent.client,
    })),
  );
  const chains = fc.sample(onList, { numRuns: REPORTS, seed: SEED + 3 });
  const wrong: unknown[] = [];
  await forEachConcurrently(chains.entries(), CONNECTIONS, async ([i, sent]) => {
    const isTrusted = i % 4 !== 0;
    const click = world.addYoungClick({ offer_id: 1 });
    const localAddress = isTrusted ? TRUSTED_PEER : OTHER_PEER;
    const connection = await RawConnection.open(fleet.port, { localAddress });
    const headers = i % 3 === 0 ? linesOf(sent) : [headerOf(sent, ", ")];
    connection.send(rawRequest(`/pb?token=ws-token&click_id=${click.click_id}`, { headers }));
    const answer = await connection.answer();
    connection.destroy();
    const isRefused = (answer?.body ?? "").includes("ip_not_allowed");
    if (answer?.status !== 200 || isRefused !== !(isTrusted && sent.client.ip === LISTED))
      wrong.push({ sent, isTrusted, answer: answer?.body });
  });
  expect(wrong.slice(0, 10)).toEqual([]);
});
