import { expect, test } from "vitest";
import { keyedHash } from "../../../schemas/erasure/keyed-hash.ts";
import { ErasedClicks } from "./erased-clicks.ts";
import { padded } from "./erased-line.ts";

const T = Date.UTC(2026, 0, 1);
const ID = `${T.toString(16).padStart(12, "0")}${"01".repeat(10)}`;
const KEY = "key";

function line(fields: Record<string, unknown>): string {
  const text = JSON.stringify({ click_id: ID, ts: T, workspace_id: 7, ...fields });
  return Buffer.from(text).toString("latin1");
}

function parsed(text: string): unknown {
  return JSON.parse(Buffer.from(text, "latin1").toString());
}

test("erasing a click clears only the data about its visitor, whatever its texts contain (#19, G207)", () => {
  const erased = new ErasedClicks();
  erased.add({ clicks: [{ id: ID, workspaceId: 7 }], addresses: [] }, KEY);
  const fields = {
    ip: "203.0.113.9",
    asn: 64_500,
    user_agent: 'quote " and \\ backslash',
    as_name: "é\n",
    referrer: '","ip":"9.9.9.9","x":"',
    gclid: "g\\\\",
    extra: '{"ip":"203.0.113.9"}',
    sub1: '"gclid":"kept"',
    visitor: 77,
    country: "DE",
  };
  const clean = erased.clean(line(fields), T);
  expect(parsed(clean)).toEqual({
    click_id: ID,
    ts: T,
    workspace_id: 7,
    ip: "",
    asn: 0,
    user_agent: "",
    as_name: "",
    referrer: "",
    gclid: "",
    extra: "",
    sub1: '"gclid":"kept"',
    visitor: 77,
    country: "DE",
  });
  const whole = padded(clean, line(fields).length);
  expect([whole.length, parsed(whole)]).toEqual([line(fields).length, parsed(clean)]);
  expect(erased.clean(clean, T)).toBe(clean);
});

test("another click, and one after the erasure, stay unchanged (#19, G207)", () => {
  const erased = new ErasedClicks();
  const other = line({ click_id: ID.replace("01", "02"), ip: "203.0.113.9" });
  expect(erased.clean(other, T)).toBe(other);
  erased.add({ clicks: [{ id: ID, workspaceId: 7 }], addresses: [] }, KEY);
  expect(erased.clean(other, T)).toBe(other);
  const namesake = line({ workspace_id: 8, ip: "203.0.113.9" });
  expect(erased.clean(namesake, T)).toBe(namesake);
  const hashes = ["203.0.113.9", "203.0.113.0"].map((ip) => keyedHash(KEY, ip));
  erased.add({ clicks: [], addresses: [{ id: 1, workspaceId: 7, atMs: T, hashes }] }, KEY);
  expect(erased.clean(other, T + 1)).toBe(other);
  const foreign = line({ click_id: "0".repeat(32), workspace_id: 8, ip: "203.0.113.9" });
  expect(erased.clean(foreign, T)).toBe(foreign);
});

test.each([
  ["whole", { ip: "203.0.113.9", gclid: "g" }, { ip: "", gclid: "g" }],
  ["truncated", { ip: "203.0.113.0", gclid: "g" }, { ip: "", gclid: "g" }],
  ["near", { ip: "203.0.113.90" }, { ip: "203.0.113.90" }],
  ["in a URL", { destination: "https://a.example/?i=203.0.113.9&b=1" }, { destination: "" }],
  [
    "of a longer one",
    { referrer: "https://a/203.0.113.99" },
    { referrer: "https://a/203.0.113.99" },
  ],
  ["truncated in a text", { referrer: "v 203.0.113.0" }, { referrer: "v 203.0.113.0" }],
])(
  "an erased address is cleared only where it stands for the visitor: %s (#19, G207)",
  (_case, fields, expected) => {
    const erased = new ErasedClicks();
    const hashes = ["203.0.113.9", "203.0.113.0"].map((ip) => keyedHash(KEY, ip));
    erased.add({ clicks: [], addresses: [{ id: 1, workspaceId: 7, atMs: T, hashes }] }, KEY);
    expect(parsed(erased.clean(line(fields), T))).toMatchObject(expected);
  },
);
