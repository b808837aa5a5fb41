import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { anyText } from "../../test/samples/any-text.ts";
import { PARAMETER_COLUMNS, TRAFFIC_SOURCES } from "../../test/samples/link-parameters.ts";
import { NO_VALUES, VALUES, WORDS_FOR_NOTHING } from "../../test/samples/no-values.ts";
import { processorTimeRatio } from "../../test/samples/processor-time.ts";
import {
  LINK_PARAMETERS,
  ParameterReader,
  QUERY_LINK_PARAMETERS,
  SERVER_CLICK_PARAMETERS,
  SLOTS,
} from "./parameters.ts";

const read = (query: string) => new ParameterReader(LINK_PARAMETERS).addQuery(query).read();

describe("parameters and their columns (TRK-042, G134)", () => {
  const aliases = PARAMETER_COLUMNS.flatMap(([slot, names]) =>
    names.map((name) => [slot, name] as const),
  );

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

test("the first non-empty value wins, and the first documented name before its aliases", () => {
  expect(read("sub1=a&sub1=b").values.sub1).toBe("a");
  expect(read("sub1=&sub1=b").values.sub1).toBe("b");
  expect(read("subid=a&s1=b&sub1=c").values.sub1).toBe("c");
  expect(read("sub1=c&s1=b").values.sub1).toBe("c");
  expect(read("src=a&source=b").values.source_id).toBe("b");
});

test("a tag that was not replaced is not a value", () => {
  const { values } = read(
    "gclid={gclid}&keyword=%7Bkeyword%7D&sub1={x}y&sub2=a{b}&kw=shoes&sub3={sub:none}",
  );
  expect([values.gclid, values.ext_keyword, values.sub1, values.sub2, values.sub3]).toEqual([
    "",
    "shoes",
    "{x}y",
    "a{b}",
    "",
  ]);
});

test("a name is no value of a click, and a value is no name, also in extra (G135, G217)", () => {
  const query = (text: string): string =>
    `sub1=${encodeURIComponent(text)}&foo=${encodeURIComponent(text)}`;
  for (const text of [...NO_VALUES, ...WORDS_FOR_NOTHING]) {
    const { values, extra } = read(query(text));
    expect([values.sub1, extra], text).toEqual(["", '{"foo":""}']);
  }
  for (const text of VALUES) {
    const { values, extra } = read(query(text));
    expect([values.sub1, JSON.parse(extra)], text).toEqual([text, { foo: text }]);
  }
  expect(read("sub1={{a.b}}&s1=b").values.sub1).toBe("b");
  expect(read("kw=[shoes]&sub1=[shoes]").values).toMatchObject({
    ext_keyword: "[shoes]",
    sub1: "",
  });
});

test("the code of a record may be a word for nothing, but not a name in braces (G217)", () => {
  const offerOf = (query: string): string =>
    new ParameterReader(SERVER_CLICK_PARAMETERS).addQuery(query).read().values.offer;
  expect([offerOf("oid=NULL"), offerOf("oid={{offer}}&offer=SHOP")]).toEqual(["NULL", "SHOP"]);
});

test.each(TRAFFIC_SOURCES)("%s comes from %j (G135)", (query, source) => {
  expect(read(query).values.traffic_source).toBe(source);
});

test("a parameter without a column is extra, once, whatever its name (TRK-043)", () => {
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

test("a flood of parameters is read within bounds, and url= is still found after it", () => {
  const flood = Array.from({ length: 5_000 }, (_, i) => `p${i}=%f0%9f`).join("&");
  const { extra, urls } = read(`${flood}&url=https%3A%2F%2Fa.example`);
  expect(extra.match(/"p\d+":/g)).toHaveLength(50);
  expect(urls).toEqual(["https%3A%2F%2Fa.example"]);
});

test("url= is kept as sent, and is an extra parameter where it is not a destination", () => {
  expect(read("url=a%20b+c&ur%6C=x&url").urls).toEqual(["a%20b+c", "x", ""]);
  const server = new ParameterReader(SERVER_CLICK_PARAMETERS).addQuery("url=https%3A//a").read();
  expect([server.urls, server.extra]).toEqual([[], '{"url":"https://a"}']);
});

test("/click reads offer and partner from its query, other paths keep them as extra (TRK-003)", () => {
  const query = "oid=SHOP&aid=ABC123";
  const { values } = new ParameterReader(QUERY_LINK_PARAMETERS).addQuery(query).read();
  expect([values.offer, values.affiliate]).toEqual(["SHOP", "ABC123"]);
  expect(read(query).extra).toBe('{"oid":"SHOP","aid":"ABC123"}');
});

test("no query makes it throw, and extra is always JSON", () => {
  fc.assert(
    fc.property(anyText(200), (query) => {
      const { extra } = read(query);
      expect(typeof JSON.parse(extra === "" ? "{}" : extra)).toBe("object");
    }),
  );
});

test("after the parameters that are read, every plainly written url= is found", () => {
  const flood = Array.from({ length: 300 }, (_, i) => `n${i}=1`).join("&");
  expect(read(`${flood}&url=a&myurl=b&url=c`).urls).toEqual(["a", "c"]);
  expect(read(`url=0&${flood}&url`).urls).toEqual(["0"]);
});

/** Characters that the searches of a read of this query pass over. */
function charactersSearched(query: string): number {
  let searched = 0;
  const indexOf = vi.spyOn(String.prototype, "indexOf").mockImplementation(function indexOfCounted(
    this: string,
    mark: string,
    from = 0,
  ) {
    const [rest = ""] = this.slice(from).split(mark, 1);
    searched += rest.length;
    return from + rest.length === this.length ? -1 : from + rest.length;
  });
  try {
    read(query);
  } finally {
    indexOf.mockRestore();
  }
  return searched;
}

const LONG_QUERIES = ["a&".repeat(16_000), "n=1&".repeat(8_000)];

test("a long query is searched to its end at most twice (#0, P40)", () => {
  // Without an equals sign, each pair was searched to the end of the query: 256 times.
  for (const query of LONG_QUERIES)
    expect(charactersSearched(query)).toBeLessThan(2.1 * query.length);
});

test("a long query costs no more than the parameters that are read from it (#0, P40)", () => {
  const readOften = (query: string) => (): void => {
    for (let run = 0; run < 100; run += 1) read(query);
  };
  const usual = readOften(Array.from({ length: 256 }, (_, i) => `n${i}=1`).join("&"));
  for (const query of LONG_QUERIES)
    expect(processorTimeRatio({ usual, other: readOften(query) }, 5)).toBeLessThan(5);
});

test("a form of 64 KiB costs no more than the parameters that are read from it (P40, G213)", () => {
  const readOften = (form: string) => (): void => {
    for (let run = 0; run < 100; run += 1)
      new ParameterReader(SERVER_CLICK_PARAMETERS).addQuery(form).read();
  };
  const usual = readOften(Array.from({ length: 256 }, (_, i) => `n${i}=1`).join("&"));
  for (const part of ["&", "+", "%", "%41", "a=", "+&"]) {
    const long = part.repeat(2 ** 16 / part.length);
    for (const form of [long, `sub1=${long}`])
      expect(processorTimeRatio({ usual, other: readOften(form) }, 5)).toBeLessThan(5);
  }
});
