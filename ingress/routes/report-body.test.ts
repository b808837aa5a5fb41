import { expect, test } from "vitest";
import { readReportParameters } from "./report-body.ts";

const noMultipart = (): undefined => undefined;

/** The answer of the server's parser for a body without parts. */
const withoutParts = () => [];

function read(query: string, contentType = "", body = ""): unknown {
  const result = readReportParameters({ query, contentType }, Buffer.from(body), noMultipart);
  return result.kind === "parameters" ? result.params : result.error;
}

test("the body wins over the query, and the first of repeated values counts (G119)", () => {
  expect(read("a=1&a=2&b=3", "application/x-www-form-urlencoded", "b=4&c=5")).toEqual({
    a: "1",
    b: "4",
    c: "5",
  });
});

test("numbers of a JSON body are parameters (PB-060)", () => {
  expect(
    read("", "application/json; charset=utf-8", '{"amount":12.5,"txid":"A","x":null}'),
  ).toEqual({
    amount: "12.5",
    txid: "A",
  });
});

test("numbers of a JSON body keep their digits, so two orders stay two (PB-060, G218)", () => {
  const body =
    '{"txid":7300000000000000001,"amount":10.50,"revenue":1.0E3,"adv1":3.3000000000000003}';
  expect(read("", "application/json", body)).toEqual({
    txid: "7300000000000000001",
    amount: "10.50",
    revenue: "1000",
    adv1: "3.3000000000000003",
  });
  for (const invalid of ["{1:2}", '{"a":01}', '{"a":1 2}', '{"a":1.}', '{"a":-}', '{"a":1"b":2}'])
    expect(read("", "application/json", invalid), invalid).toBe("malformed JSON body");
});

test("an unreadable body is reported (PB-050)", () => {
  expect(read("txid=%")).toBe("malformed query");
  expect(read("", "application/json", "{")).toBe("malformed JSON body");
  expect(read("", "application/json", "[]")).toBe("malformed JSON body");
  expect(read("", "application/x-www-form-urlencoded", "adv1=%zz")).toBe("malformed form body");
  expect(read("", "multipart/form-data; boundary=x", "--")).toBe("malformed multipart body");
  const broken = readReportParameters(
    { query: "", contentType: "" },
    Buffer.from([0xff, 0xfe]),
    noMultipart,
  );
  expect(broken).toEqual({ kind: "malformed", error: "unreadable body", params: {} });
});

test.each(["text/plain", "", "application/x-www-form-urlencoded", "application/octet-stream"])(
  "a body that begins with a brace is JSON, also with the type %j (PB-003, G223)",
  (contentType) => {
    expect(read("", contentType, ' {"txid":"A","amount":10.50}')).toEqual({
      txid: "A",
      amount: "10.50",
    });
    expect(read("", contentType, "{")).toBe("malformed JSON body");
    expect(read("", contentType, "txid=A&adv1={x}")).toEqual({ txid: "A", adv1: "{x}" });
  },
);

test("what nobody reads refuses no report, and what is read must be readable (PB-050, G223)", () => {
  const body = '{"txid":"A","items":[{"sku":1}],"customer":{"name":"x"}}';
  expect(read("", "application/json", body)).toEqual({ txid: "A" });
  expect(read("", "application/json", '{"txid":{"a":1}}')).toBe("malformed JSON body");
  expect(read("txid=A&utm_term=50%&name=caf%E9&%zz=1")).toEqual({
    txid: "A",
    utm_term: "50%",
    name: "caf%E9",
    "%zz": "1",
  });
  expect(read("txid=A&adv1=50%")).toBe("malformed query");
});

test("a JSON body that is too deep, or has too many values, is malformed (PB-050, G213)", () => {
  const fields = (count: number): string =>
    `{${Array.from({ length: count }, (_, index) => `"f${index}":1`).join(",")}}`;
  const deep = `{"txid":${"[".repeat(30_000)}${"]".repeat(30_000)}}`;
  for (const body of [deep, fields(2_000)])
    expect(read("", "application/json", body)).toBe("malformed JSON body");
  expect(read("", "application/json", fields(250))).toMatchObject({ f0: "1", f199: "1" });
});

test.each([
  ["multipart/form-data", "--x\r\n\r\n--x--"],
  ["multipart/form-data; boundary=", "--x\r\n\r\n--x--"],
  ["multipart/form-data; boundary=y", "--x\r\n\r\n--x--"],
  ["multipart/form-data; boundary=x", "a=1"],
  ["multipart/form-data; boundary=x", "a--x\r\n\r\n--y--"],
  ["multipart/form-data; boundary=x", '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1'],
])("%s with the body %j is malformed (PB-050, #21)", (contentType, body) => {
  const answer = readReportParameters(
    { query: "token=t", contentType },
    Buffer.from(body),
    withoutParts,
  );
  expect(answer).toMatchObject({ kind: "malformed", error: "malformed multipart body" });
});

test.each(["boundary=x y", 'charset=utf-8; boundary="x y"', 'Boundary="x y"; charset=utf-8'])(
  "the parser gets the announced boundary only: multipart/form-data; %s (#21)",
  (parameters) => {
    const seen: string[] = [];
    readReportParameters(
      { query: "", contentType: `multipart/form-data; ${parameters}` },
      Buffer.from("--x y\r\n\r\n\r\n--x y--"),
      (_body, contentType) => {
        seen.push(contentType);
        return [];
      },
    );
    // A space needs quotes: without them the type announces no reliable boundary.
    const isQuoted = parameters.includes('"');
    expect(seen).toEqual(isQuoted ? ["multipart/form-data; boundary=x y"] : []);
  },
);

test("a parameter may have the name of a property of every object", () => {
  expect(read("__proto__=1&constructor=2&a=3")).toMatchObject({ constructor: "2", a: "3" });
});

test("of a form with thousands of pairs at most a thousand are decoded (#0, P40)", () => {
  const pairs = `${"a=1&".repeat(1_000)}txid=%zz`;
  expect(read(pairs)).toEqual({ a: "1" });
  expect(read("", "application/x-www-form-urlencoded", pairs)).toEqual({ a: "1" });
});

test("names of a query that was copied with &amp; or a doubled ? are plain (G241)", () => {
  expect(read("?a=1&amp;b=2&amp;amp;c=x%26amp;y&amp;d=")).toEqual({
    a: "1",
    b: "2",
    c: "x&amp;y",
    d: "",
  });
});
