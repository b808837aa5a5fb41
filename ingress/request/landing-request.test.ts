import { expect, test } from "vitest";
import { type LandingRequest, readLandingRequest } from "./landing-request.ts";

function read(body: unknown): ReturnType<typeof readLandingRequest> {
  return readLandingRequest(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
}

function landing(body: unknown): LandingRequest {
  const result = read(body);
  if (result.kind === "malformed") throw new Error(result.error);
  return result.landing;
}

const ID = "0123456789abcdef0123456789abcdef";

test.each<[string, unknown, string]>([
  ["nothing", "", "invalid body"],
  ["text", "x", "invalid body"],
  ["a form", "gclid=a&url=b", "invalid body"],
  ["half an object", '{"gclid":', "invalid body"],
  ["lists in lists", `{"x":${"[".repeat(30_000)}${"]".repeat(30_000)}}`, "invalid body"],
  ["too many values", `{"x":[${"1,".repeat(2_000)}1]}`, "invalid body"],
  ["a list", "[]", "JSON object expected"],
  ["a string", '"x"', "JSON object expected"],
  ["a number", "7", "JSON object expected"],
  ["null", "null", "JSON object expected"],
  ["a short click id", { click_id: "zz" }, "invalid click_id"],
  ["a click id with dashes", { click_id: ID.replace(/^(.{8})/, "$1-") }, "invalid click_id"],
  ["a click id that is a number", { click_id: 7 }, "invalid click_id"],
  ["a click id that is an object", { click_id: {} }, "invalid click_id"],
  ["a gclid of 513", { gclid: "g".repeat(513) }, "gclid too long"],
  ["a gbraid of 513", { gbraid: "g".repeat(513) }, "gbraid too long"],
])("%s is refused (LP-008, LP-009, LP-012, G213)", (_, body, error) => {
  expect(read(body)).toEqual({ kind: "malformed", error });
});

test("a body that is not UTF-8 is invalid (LP-008)", () => {
  expect(readLandingRequest(Uint8Array.of(0x7b, 0xff, 0x7d))).toEqual({
    kind: "malformed",
    error: "invalid body",
  });
});

test("absent, null and empty click ids mean none; capitals and spaces around one are accepted (LP-009)", () => {
  for (const click_id of [undefined, null, ""])
    expect(landing({ click_id }).clickId).toBeUndefined();
  expect(landing({ click_id: ` ${ID.toUpperCase()} ` }).clickId).toBe(ID);
});

test("numbers of a page keep their digits (LP-006, G218)", () => {
  const { parameters, offerCode } = landing('{"sub1":7300000000000000001,"sub2":10.50,"offer":17}');
  expect([parameters.values.sub1, parameters.values.sub2]).toEqual([
    "7300000000000000001",
    "10.50",
  ]);
  expect(offerCode).toBe("17");
});

test("an ad-platform id of 512 characters is taken whole (LP-012)", () => {
  const value = "g".repeat(512);
  expect(landing({ gclid: value }).adClickIds).toEqual([{ kind: "gclid", value }]);
});

test("a name in place of an ad-platform id does not hide the id of the page's URL (G217)", () => {
  const url = "https://shop.example/?gclid=g&sub1={{a}}";
  for (const gclid of ["{gclid}", "undefined"]) {
    const { adClickIds, parameters } = landing({ gclid, url, sub2: "{{b}}" });
    expect(adClickIds).toEqual([{ kind: "gclid", value: "g" }]);
    expect([parameters.values.sub1, parameters.values.sub2]).toEqual(["", ""]);
  }
});

test("ids of the body are looked up in the order gclid, gbraid, wbraid (LP-004, LP-005)", () => {
  expect(landing({ wbraid: "w", gclid: "g", gbraid: "b", msclkid: "m" }).adClickIds).toEqual([
    { kind: "gclid", value: "g" },
    { kind: "gbraid", value: "b" },
    { kind: "wbraid", value: "w" },
  ]);
});

test("an id of the page's URL is looked up when the body names none, and stored in any case (LP-004)", () => {
  const url = "https://shop.example/?gclid=of-url&gbraid=b";
  expect(landing({ url }).adClickIds.map(({ value }) => value)).toEqual(["of-url", "b"]);
  const both = landing({ url, gclid: "of-body" });
  expect(both.adClickIds).toEqual([{ kind: "gclid", value: "of-body" }]);
  expect(both.parameters.values).toMatchObject({ gclid: "of-body", gbraid: "b" });
});

test("an organic visit is looked up by ids of the body only (LP-018)", () => {
  const url = "https://shop.example/?gclid=seen-before";
  expect(landing({ organic: true, url }).adClickIds).toEqual([]);
  expect(landing({ organic: true, url, gclid: "g" }).adClickIds).toHaveLength(1);
  expect(landing({ organic: "true", url }).isOrganic).toBe(false);
});

test("a tag that the ad platform did not replace is not an id (LP-004)", () => {
  expect(landing({ gclid: "{gclid}", url: "https://shop.example/?gclid={gclid}" })).toMatchObject({
    adClickIds: [],
    parameters: { values: { gclid: "" } },
  });
});

test("subs, tag values and the rest come from the page's URL, up to its fragment (LP-006)", () => {
  const { values, extra } = landing({
    url: "https://shop.example/p?s1=a+b&sub2=%C3%BC&campaignid=77&keyword=red&utm_source=bing&x=1#sub3=no",
  }).parameters;
  expect(values).toMatchObject({
    sub1: "a b",
    sub2: "ü",
    sub3: "",
    ext_campaign_id: "77",
    ext_keyword: "red",
    traffic_source: "bing",
  });
  expect(extra).toBe('{"x":"1"}');
});

test("values of the body win over those of the URL, and unknown keys are ignored (G160)", () => {
  const { parameters, offerCode, affiliateCode } = landing({
    url: "https://shop.example/?sub1=url&s2=url&offer=NO&aff=NO",
    sub1: "body",
    offer: 12,
    aff: " PART01 ",
    first_click_id: "whatever",
    nonsense: { deep: [] },
  });
  expect(parameters.values).toMatchObject({ sub1: "body", sub2: "url" });
  expect([offerCode, affiliateCode]).toEqual(["12", "PART01"]);
});

test("sub1 to sub3 of an organic visit come from the page, else from referrer and URL (LP-018)", () => {
  const url = "https://shop.example/shoes/red?sub1=x&sub4=four";
  const referrer = "https://www.google.co.uk/search?q=shoes";
  expect(landing({ organic: true, url, referrer }).parameters.values).toMatchObject({
    sub1: "google",
    sub2: "www.google.co.uk",
    sub3: "/shoes/red",
    sub4: "four",
  });
  const given = { sub1: "x", sub2: "t.co", sub3: "/app" };
  expect(landing({ organic: true, url, referrer, ...given }).parameters.values).toMatchObject(
    given,
  );
});

test("half a surrogate pair, an invalid page URL and values of other types do no harm (P28)", () => {
  const { adClickIds, parameters } = landing(
    '{"gclid":"\\ud800","url":"%%%","referrer":[],"sub1":{}}',
  );
  expect(adClickIds).toEqual([{ kind: "gclid", value: "\ufffd" }]);
  expect(parameters.values.sub1).toBe("");
});

test("the query behind # is read after the page's own; a plain fragment gives ad-platform IDs only (G247)", () => {
  const valuesOf = (url: string): Record<string, string> => {
    const { parameters } = landing({ url: `https://shop.example/${url}` });
    const { sub1, sub2, gclid, traffic_source } = parameters.values;
    return { sub1, sub2, gclid, traffic_source, extra: parameters.extra };
  };
  const none = { sub1: "", sub2: "", gclid: "", traffic_source: "", extra: "" };
  const ad = { gclid: "G", traffic_source: "google" };
  expect(valuesOf("#/p?gclid=G&sub1=a%20b&foo=1")).toEqual({
    ...none,
    ...ad,
    sub1: "a b",
    extra: '{"foo":"1"}',
  });
  expect(valuesOf("?sub1=own&sub2=x#!/p?sub1=other&gclid=G")).toEqual({
    ...none,
    ...ad,
    sub1: "own",
    sub2: "x",
  });
  expect(valuesOf("#gclid=G&sub1=no&access_token=secret")).toEqual({ ...none, ...ad });
  expect(valuesOf("#section")).toEqual(none);
});
