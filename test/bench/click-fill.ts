import assert from "node:assert";
import { setTimeout } from "node:timers/promises";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import { storedDestination } from "../../schemas/clickhouse/stored-destination.ts";

/** A month of UTC; the end is exclusive. */
const MONTH = { fromMs: Date.UTC(2026, 9, 1), endMs: Date.UTC(2026, 10, 1) };

/** No offer, partner or advertiser of the clicks has a higher ID. */
export const FILLED_IDS_MAX = 500;

const BLOCK_ROWS = 1_000_000;
const TIMEOUT_S = 600;
const POLL_MS = 100;
const COUNTRIES =
  "US DE GB FR IN BR IT ES CA AU NL PL SE MX JP TR ID ZA AT CH BE DK NO FI PT CZ RO HU GR IE AR CL CO PE PH TH VN MY SG KR";

/** SQL for a number below `count`. Small numbers are more frequent, the more so the higher `skew` is. `seed` is SQL. */
function skewed(seed: string, count: number, skew: number): string {
  return `toUInt32(${count} * pow(${share(seed)}, ${skew}))`;
}

function share(seed: string): string {
  return `(${seed} % 1000003) / 1000003.`;
}

/**
 * Clicks of a network: 3,000 pairs of 300 offers and 500 partners, offers with a home market, 3 million visitors with 5,000
 * browsers. Campaigns buy the clicks of two pairs in five, and every third of those has a gclid; one pair in five has a unique ID in
 * sub3. The clicks are spread evenly over the month and inserted in time order, as ingress writes them.
 */
const CLICKS = `insert into click (workspace_id, ts, click_id, link_type, status, status_reason, offer_id, advertiser_id, affiliate_id,
    is_unique, is_bot, is_datacenter, ip, visitor, user_agent, referrer, referrer_host, language, country, region, city, asn,
    as_name, device_type, os, os_version, browser, browser_version, traffic_source, source_id, sub1, sub2, sub3, gclid,
    ext_campaign_id, ext_adgroup_id, ext_ad_id, ext_keyword, domain, destination, click_payout, click_revenue, currency,
    catalog_version, _lane, _producer, _epoch, _position, _writer_epoch)
  with
    ${skewed("cityHash64(number, 2)", 3_000, 3)} as pair,
    1 + ${skewed("cityHash64(pair, 11)", 300, 2)} as offer,
    1 + ${skewed("cityHash64(pair, 12)", FILLED_IDS_MAX, 2)} as partner,
    ${skewed("cityHash64(number, 3)", 3_000_000, 2)} as person,
    cityHash64(person, 21) as person_hash,
    ${skewed("person_hash", 5_000, 3)} as agent,
    splitByChar(' ', '${COUNTRIES}') as countries,
    ${share("cityHash64(number, 4)")} as chance,
    ${share("cityHash64(number, 5)")} as fate,
    countries[1 + if(chance < 0.75, ${skewed("cityHash64(offer, 31)", 40, 2)}, ${skewed("cityHash64(number, 6)", 40, 2)})] as country_code,
    fromUnixTimestamp64Milli(toInt64({from:Int64} + (number + 0.5) * {month:Int64} / {total:Int64}), 'UTC') as at,
    toFixedString(concat(unhex(leftPad(lower(hex(toUnixTimestamp64Milli(at))), 12, '0')), char(offer % 8), char(0), char(1),
      substring(reinterpretAsString(cityHash64(number, 41)), 1, 7)), 16) as id,
    pair % 5 < 2 as is_bought
  select 1, at, id, if(pair % 7 = 0, 'transparent', 'affiliate'),
    multiIf(fate < 0.04, 'blocked', fate < 0.06, 'fallback', 'redirect'),
    multiIf(fate < 0.02, 'geo', fate < 0.04, 'device', fate < 0.06, 'cap', ''),
    offer, offer % 60 + 1, partner, fate > 0.3, fate > 0.9 and fate < 0.93, fate > 0.92 and fate < 0.935,
    IPv4NumToString(toUInt32(person_hash)), bitAnd(person_hash, 4503599627370495),
    concat('Mozilla/5.0 (', ['iPhone; CPU iPhone OS 18_', 'Linux; Android 14; SM-S9', 'Windows NT 10.0; Win64; x64; ',
      'Macintosh; Intel Mac OS X 10_15_'][1 + agent % 4], toString(intDiv(agent, 4) % 90),
      ') AppleWebKit/537.36 (KHTML, like Gecko) Chrome/', toString(100 + agent % 31), '.0.', toString(6000 + agent), '.0 Safari/537.36'),
    if(fate < 0.6, '', concat('https://blog', toString(partner), '.example/article/', toString(${skewed("cityHash64(number, 7)", 200, 2)}),
      '?utm=', toString(pair))),
    if(fate < 0.6, '', concat('blog', toString(partner), '.example')), ['en', 'de', 'fr', 'es', 'pt'][1 + person_hash % 5],
    country_code, concat(country_code, '-', toString(${skewed("cityHash64(person, 22)", 16, 2)})),
    concat('City ', country_code, toString(${skewed("cityHash64(person, 23)", 80, 2)})),
    1000 + person_hash % 900, concat('Network ', toString(person_hash % 900)),
    ['mobile', 'mobile', 'desktop', 'desktop'][1 + agent % 4], ['iOS', 'Android', 'Windows', 'macOS'][1 + agent % 4],
    toString(intDiv(agent, 4) % 12), ['Safari', 'Chrome', 'Chrome', 'Firefox'][1 + agent % 4], toString(100 + agent % 31),
    ['google', 'facebook', 'native', 'push', 'email', 'tiktok', 'bing', '', ''][1 + (partner + toUInt32(chance > 0.8)) % 9],
    concat('site-', toString(${skewed("cityHash64(number, 8)", 400, 2)})), concat('camp', toString(pair % 50)),
    toString(${skewed("cityHash64(number, 9)", 2_000, 3)}), if(pair % 5 = 0, lower(hex(cityHash64(number, 51))), ''),
    if(is_bought and pair % 3 = 0, concat('Cj0KCQjw', base64Encode(concat(reinterpretAsString(cityHash64(number, 61)),
      reinterpretAsString(cityHash64(number, 62)), reinterpretAsString(cityHash64(number, 63)),
      reinterpretAsString(cityHash64(number, 64)))), '_wcB'), ''),
    if(is_bought, toString(1000000000 + pair * 7), ''), if(is_bought, toString(2000000000 + pair * 7 + toUInt32(chance * 6)), ''),
    if(is_bought, toString(3000000000 + pair * 70 + toUInt32(fate * 30)), ''),
    if(is_bought, concat('keyword ', toString(${skewed("cityHash64(number, 10)", 300, 2)})), ''), 'go.example',
    ${storedDestination("concat('https://shop', toString(offer), '.example/product/', toString(offer % 17), '?click_id=', lower(hex(id)), '&partner=', toString(partner))", "lower(hex(id))")},
    if(offer % 10 = 0, 0.1, 0), if(offer % 10 = 0, 0.15, 0), if(offer % 9 = 0, 'EUR', 'USD'),
    1000 + intDiv(number, 100000), offer % 8, 1, 1, number, 1
  from numbers({first:UInt64}, {count:UInt64})`;

/** One click in eighty converts, within two days. */
const CONVERSIONS = `insert into conversion_fact (workspace_id, conv_ts, id, version, click_id, click_ts, offer_id, affiliate_id,
    advertiser_id, event_code, status, revenue, payout, currency, method, country, device_type, os, browser, traffic_source, domain,
    ext_campaign_id, ext_adgroup_id, link_type)
  select workspace_id, ts + toIntervalSecond(cityHash64(click_id, 1) % 172800), generateUUIDv4(), 1, lower(hex(click_id)), ts,
    offer_id, affiliate_id, advertiser_id, 'default', ['approved', 'approved', 'approved', 'pending', 'rejected'][1 + cityHash64(click_id, 2) % 5],
    toDecimal64(20 + offer_id % 30, 4), toDecimal64(10 + offer_id % 20, 4), currency, 's2s', country, device_type, os, browser,
    traffic_source, domain, ext_campaign_id, ext_adgroup_id, link_type
  from click where cityHash64(click_id, 3) % 80 = 0 and status = 'redirect'
    and ts >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') and ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;

/** Fills workspace 1 with a month of `clicks`, in blocks as large as a writer's largest, and reports progress through `say`. */
export async function fillMonth(
  clickhouse: Clickhouse,
  clicks: number,
  say: (text: string) => void,
): Promise<void> {
  const month = MONTH.endMs - MONTH.fromMs;
  const startedAtMs = performance.now();
  for (let first = 0; first < clicks; first += BLOCK_ROWS) {
    const count = Math.min(BLOCK_ROWS, clicks - first);
    await run(clickhouse, CLICKS, { from: MONTH.fromMs, month, total: clicks, first, count });
    const done = first + count;
    if (done % 5_000_000 !== 0 && done !== clicks) continue;
    const rate = done / ((performance.now() - startedAtMs) / 1_000);
    say(`${done / 1e6} of ${clicks / 1e6} million clicks, ${Math.round(rate / 1_000)} thousand/s`);
  }
  const day = 86_400_000;
  for (let from = MONTH.fromMs; from < MONTH.endMs; from += day) {
    await run(clickhouse, CONVERSIONS, { from, to: from + day });
  }
  await writeRollups(clickhouse);
}

/**
 * The first merge of new parts writes the rollups. It follows a writer's small inserts within seconds, but blocks of a million rows wait
 * for more of their size, and meanwhile reports would read four million rows one by one.
 */
async function writeRollups(clickhouse: Clickhouse): Promise<void> {
  const answer = await clickhouse.query({
    query:
      "select name from system.projections where database = currentDatabase() and table = 'click'",
    format: "JSONEachRow",
  });
  const names = await answer.json<{ readonly name: string }>();
  const steps = names.map(({ name }) => `materialize projection ${name}`);
  await clickhouse.command({
    query: `alter table click ${steps.join(", ")}`,
    clickhouse_settings: { mutations_sync: "0" },
  });
  const deadlineMs = performance.now() + TIMEOUT_S * 1_000;
  while ((await unfinished(clickhouse)) > 0) {
    assert(performance.now() < deadlineMs, `the rollups are written within ${TIMEOUT_S} s`);
    await setTimeout(POLL_MS);
  }
}

async function unfinished(clickhouse: Clickhouse): Promise<number> {
  const answer = await clickhouse.query({
    query: `select count() as count from system.mutations
      where database = currentDatabase() and table = 'click' and not is_done`,
    format: "JSONEachRow",
  });
  const [row] = await answer.json<{ readonly count: number }>();
  return row?.count ?? 0;
}

async function run(
  clickhouse: Clickhouse,
  query: string,
  query_params: Readonly<Record<string, number>>,
): Promise<void> {
  await clickhouse.command({
    query,
    query_params,
    clickhouse_settings: {
      max_execution_time: TIMEOUT_S,
      max_partitions_per_insert_block: "10",
      max_block_size: String(BLOCK_ROWS),
      min_insert_block_size_rows: String(BLOCK_ROWS),
      max_insert_block_size: String(BLOCK_ROWS),
    },
  });
}
