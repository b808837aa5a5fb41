import { expect, test } from "vitest";
import { destinationMacros, macroFaults, postbackMacros } from "./macro-faults.ts";

const DESTINATION = { destination_url: destinationMacros };

test.each([
  ["https://shop.example/?c={click_id}&s={sub10}&r={random}", ""],
  ["https://shop.example/?c={clikc_id}", "{clikc_id}: the nearest known one is {click_id}"],
  ["https://shop.example/?c={Click_ID}", "{Click_ID}: the nearest known one is {click_id}"],
  ["https://shop.example/?c={click_id}&s={sub_1}", "{sub_1}: the nearest known one is {sub1}"],
  ["https://shop.example/?p={payout}", "unknown macro {payout}"],
  ["https://shop.example/?c=%7Bclikc_id%7D&d={}&e={ x }&f={a-b}&g={a.b}", ""],
])("in %s an unknown macro is refused and the nearest named (G148)", (destination_url, fault) => {
  const faults = macroFaults(DESTINATION, { body: { destination_url } });
  expect(faults["destination_url"] !== undefined).toBe(fault !== "");
  expect(faults["destination_url"] ?? "").toContain(fault);
});

test("a stored value that is sent again is accepted, a changed one is checked (G148)", () => {
  const before = { destination_url: "https://shop.example/?x={old}" };
  expect(macroFaults(DESTINATION, { body: before, before })).toEqual({});
  const body = { destination_url: "https://shop.example/?x={old}&y=1" };
  expect(Object.keys(macroFaults(DESTINATION, { body, before }))).toEqual(["destination_url"]);
});

test("macros of staff are refused to partners, in the url and in the body (G125)", () => {
  const body = { url: "https://p.example/?t={txid}", body: '{"ip":"{ip}","adv":"{adv1}"}' };
  expect(macroFaults(postbackMacros(false), { body })).toEqual({});
  expect(macroFaults(postbackMacros(true), { body })).toEqual({
    url: "{txid} is available only in postbacks of your team",
    body: "{ip} is available only in postbacks of your team",
  });
});

test("a field of another type is left to the schema", () => {
  expect(macroFaults(DESTINATION, { body: { destination_url: 7 } })).toEqual({});
});
