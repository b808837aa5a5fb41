import { expect, test } from "vitest";
import { audienceFacts } from "./targeting-words.ts";

const factsOf = (targeting: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(audienceFacts(targeting).filter(([, value]) => value !== ""));

test("an offer without conditions accepts every country and device (#39)", () => {
  expect(factsOf({})).toEqual({ Countries: "All", Devices: "All" });
});

test("conditions are names, and what is excluded is said (#39)", () => {
  expect(
    factsOf({
      countries_allow: ["DE", "AT"],
      devices_deny: ["tablet"],
      os_allow: ["iOS"],
      connection: "no_proxy",
      schedule: { days: [1, 7], hours: [9, 10], tz: "Europe/Berlin" },
    }),
  ).toEqual({
    Countries: "Germany, Austria",
    Devices: "All but Tablet",
    "Operating systems": "iOS",
    Connection: "No proxies",
    Schedule: "Mon, Sun, from 9, 10 o'clock (Europe/Berlin)",
  });
});

test("a condition of a newer release breaks nothing (#39)", () => {
  expect(factsOf({ countries_allow: "DE", schedule: 7, moon: true })).toEqual({
    Countries: "All",
    Devices: "All",
  });
});
