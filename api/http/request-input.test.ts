import { expect, test } from "vitest";
import { z } from "zod";
import { calledUrl, email, money, orEmpty, targetUrl, text } from "../fields/body-fields.ts";
import { likePattern, mintCode, parseReference } from "../operation/codes.ts";
import { faultsOf } from "./request-input.ts";

const Body = z.strictObject({
  name: text(),
  events: z.array(z.strictObject({ payout: money })).optional(),
  caps: z.strictObject({ daily: z.int("expected a number") }).optional(),
});

function faults(body: unknown): Record<string, string> {
  const parsed = Body.safeParse(body);
  return parsed.success ? {} : { ...faultsOf(parsed.error, body) };
}

test("every fault has the path of its field, also inside lists and objects (G14, G15)", () => {
  expect(
    faults({
      events: [{ payout: "1" }, { payout: 2, x: 1 }, {}],
      caps: { daily: "a", z: 1 },
      y: 1,
    }),
  ).toEqual({
    name: "required",
    "events[1].payout": 'expected a decimal string such as "12.50"',
    "events[1].x": "unknown field",
    "events[2].payout": "required",
    "caps.daily": "expected a number",
    "caps.z": "unknown field",
    y: "unknown field",
  });
  expect(faults({ name: "ok" })).toEqual({});
});

test.each([
  ["10", "10.0000"],
  ["10.5", "10.5000"],
  ["0", "0.0000"],
  ["99999999999999.9999", "99999999999999.9999"],
] as const)("money %s is %s (ENV-006, G22)", (given, expected) => {
  expect(money.parse(given)).toBe(expected);
});

test.each(["", "1.", ".5", "1,5", "+1", "-1", "1e3", "1.23456", "999999999999999", " 1", "１"])(
  "money %j is refused (ENV-007)",
  (given) => {
    expect(money.safeParse(given).success).toBe(false);
  },
);

test.each([
  ["https://shop.example/?c={click_id}", true],
  ["https://{sub1}.shop.example", true],
  ["http://127.0.0.1:8080", true],
  ["https:///path", false],
  ["https://a b", false],
  ["ftp://shop.example", false],
  ["//shop.example", false],
  ["{destination}", false],
] as const)("destination %s is good: %s (G35)", (url, isGood) => {
  expect(targetUrl.safeParse(url).success).toBe(isGood);
  expect(orEmpty(targetUrl).safeParse("").success).toBe(true);
});

test.each([
  ["a@b.example", true],
  ["a.b+c@d.e.example", true],
  ["a@b", false],
  ["a b@c.example", false],
  ["@b.example", false],
] as const)("e-mail %s is good: %s (G58)", (address, isGood) => {
  expect(email.safeParse(address).success).toBe(isGood);
});

test("references and patterns mean what was written (G25, T72)", () => {
  expect(parseReference("12")).toEqual({ id: 12, code: "12" });
  expect(parseReference("012")).toEqual({ id: 0, code: "012" });
  expect(parseReference("99999999999")).toEqual({ id: 0, code: "99999999999" });
  expect(parseReference("a b")).toBeUndefined();
  expect(likePattern("50%_\\")).toBe("%50\\%\\_\\\\%");
});

test("a generated code is never an id and has no letter that people confuse (G24)", () => {
  for (let count = 0; count < 200; count += 1)
    expect(mintCode()).toMatch(/^[A-HJ-NP-Z][A-HJ-NP-Z2-9]{7}$/);
});

test.each([
  "https://user:pass@partner.example/pb?c={click_id}",
  "https://user@partner.example/",
  "https://:pass@partner.example/",
  "https://{sub1}:{sub2}@partner.example/",
])(
  "a URL that the service requests has no user name and no password: %s (PBO-001, G226)",
  (url) => {
    expect(calledUrl.safeParse(url).error?.issues[0]?.message).toBe(
      "must not have a user name or a password",
    );
  },
);

test("an at sign behind the host is no user name (G226)", () => {
  expect(calledUrl.safeParse("https://partner.example/@name?mail=a@b.example").success).toBe(true);
  expect(calledUrl.safeParse("no url").error?.issues).toHaveLength(1);
});
