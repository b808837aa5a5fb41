import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../../test/samples/any-text.ts";
import {
  LINK_PARAMETERS,
  ParameterReader,
  QUERY_LINK_PARAMETERS,
  SERVER_CLICK_PARAMETERS,
  SLOTS,
  type Slot,
} from "./parameters.ts";

const read = (query: string) => new ParameterReader(LINK_PARAMETERS).addQuery(query).read();

describe("TRK-042 parameters and their columns", () => {
  const aliases: readonly (readonly [Slot, string])[] = [
    ...["sub1", "s1", "aff_sub", "subid", "subid1", "sub_id1"].map(
      (name) => ["sub1", name] as const,
    ),
    ...["sub10", "s10", "aff_sub10", "subid10"].map((name) => ["sub10", name] as const),
    ...["source_id", "source", "src"].map((name) => ["source_id", name] as const),
    ...(["gclid", "gbraid", "wbraid", "msclkid", "fbclid"] as const).map((id) => [id, id] as const),
    ["ext_campaign_id", "campaignid"],
    ["ext_campaign_id", "campaign_id"],
    ["ext_adgroup_id", "adgroupid"],
    ["ext_adgroup_id", "adgroup_id"],
    ["ext_ad_id", "creative"],
    ["ext_ad_id", "adid"],
    ["ext_ad_id", "ad_id"],
    ["ext_keyword", "keyword"],
    ["ext_keyword", "kw"],
    ["ext_placement", "placement"],
    ["ext_matchtype", "matchtype"],
    ["ext_network", "network"],
    ["ext_device", "device"],
    ["ext_device_model", "devicemodel"],
    ["ext_target_id", "targetid"],
    ["ext_loc_physical", "loc_physical_ms"],
    ["ext_loc_interest", "loc_interest_ms"],
    ["ext_feed_item_id", "feeditemid"],
    ["ext_ad_position", "adposition"],
    ["traffic_source", "traffic_source"],
    ["traffic_source", "ts"],
    ["traffic_source", "utm_source"],
  ];

  test.each(aliases)("%s is read from %s=", (slot, name) => {
    const { values, extra } = read(`${name}=v%20+1`);
    expect(values[slot]).toBe("v  1");
    expect(extra).toBe("");
  });

  test("every sub ID has its number", () => {
    const query = Array.from({ length: 10 }, (_, i) => `sub${i + 1}=v${i + 1}`).join("&");
    const { values } = read(query);
    expect(SLOTS.slice(0, 10).map((slot) => values[slot])).toEqual(
      Array.from({ length: 10 }, (_, i) => `v${i + 1}`),
    );
  });
});

test("the first non-empty value wins, and the name documented first before its aliases", () => {
  expect(read("sub1=a&sub1=b").values.sub1).toBe("a");
  expect(read("sub1=&sub1=b").values.sub1).toBe("b");
  expect(read("subid=a&s1=b&sub1=c").values.sub1).toBe("c");
  expect(read("sub1=c&s1=b").values.sub1).toBe("c");
  expect(read("src=a&source=b").values.source_id).toBe("b");
});

test("a tag that was not replaced is no value", () => {
  const { values } = read("gclid={gclid}&keyword=%7Bkeyword%7D&sub1={x}y&sub2=a{b}&kw=shoes");
  expect([values.gclid, values.ext_keyword, values.sub1, values.sub2]).toEqual([
    "",
    "shoes",
    "{x}y",
    "a{b}",
  ]);
});

test.each([
  ["gclid=1", "google"],
  ["gbraid=1", "google"],
  ["wbraid=1", "google"],
  ["msclkid=1", "bing"],
  ["fbclid=1", "facebook"],
  ["ttclid=1", "tiktok"],
  ["sub1=1", ""],
  ["fbclid=1&utm_source=mail", "mail"],
  ["gclid={gclid}&fbclid=1", "facebook"],
])("%s comes from %j", (query, source) => {
  expect(read(query).values.traffic_source).toBe(source);
});

test("TRK-043 what maps to no column is extra, once, whatever its name", () => {
  const { extra } = read("foo=bar&foo=baz&__proto__=x&a%20b=%22&flag&=nameless&sub1=1");
  expect(extra).toBe('{"foo":"bar","__proto__":"x","a b":"\\"","flag":""}');
  expect(read("sub1=1").extra).toBe("");
});

test("values are cut at 255 characters, ad-platform ids at 512, never within a character", () => {
  const { values, extra } = read(
    `sub1=${"a".repeat(300)}&gclid=${"b".repeat(600)}&sub2=${"c".repeat(254)}%F0%9F%98%80&foo=${"d".repeat(300)}`,
  );
  expect(values.sub1).toBe("a".repeat(255));
  expect(values.gclid).toBe("b".repeat(512));
  expect(values.sub2).toBe("c".repeat(254));
  expect(extra).toBe(`{"foo":"${"d".repeat(255)}"}`);
});

test("a flood of parameters is read in bounds, and url= is still found behind it", () => {
  const flood = Array.from({ length: 5_000 }, (_, i) => `p${i}=%f0%9f`).join("&");
  const { extra, urls } = read(`${flood}&url=https%3A%2F%2Fa.example`);
  expect(extra.match(/"p\d+":/g)).toHaveLength(50);
  expect(urls).toEqual(["https%3A%2F%2Fa.example"]);
});

test("url= is kept as it was sent, and is no more than extra where it is no destination", () => {
  expect(read("url=a%20b+c&ur%6C=x&url").urls).toEqual(["a%20b+c", "x", ""]);
  const server = new ParameterReader(SERVER_CLICK_PARAMETERS).addQuery("url=https%3A//a").read();
  expect([server.urls, server.extra]).toEqual([[], '{"url":"https://a"}']);
});

test("TRK-003 /click reads offer and partner from its query, other paths keep them as extra", () => {
  const query = "oid=SHOP&aid=ABC123";
  const { values } = new ParameterReader(QUERY_LINK_PARAMETERS).addQuery(query).read();
  expect([values.offer, values.affiliate]).toEqual(["SHOP", "ABC123"]);
  expect(read(query).extra).toBe('{"oid":"SHOP","aid":"ABC123"}');
});

test("no query whatever makes it throw, and extra is always JSON", () => {
  fc.assert(
    fc.property(anyText(200), (query) => {
      const { extra } = read(query);
      expect(typeof JSON.parse(extra === "" ? "{}" : extra)).toBe("object");
    }),
  );
});
