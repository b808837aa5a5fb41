import { expect, test } from "vitest";
import {
  BOTS,
  DESKTOP_CHROME,
  DEVICES,
  GOOGLEBOT,
  HEADLESS_BROWSERS,
  IPHONE,
  PIXEL,
} from "../../test/samples/user-agents.ts";
import { openDevices } from "./device.ts";

const devices = openDevices();

test.each(DEVICES)("%s is a %s with %s and %s (G155)", (userAgent, deviceType, os, browser) => {
  const device = devices.read(userAgent);
  expect(device).toMatchObject({ deviceType, os, browser, isBot: false, missingUa: false });
});

test.each(BOTS)("%j is a bot", (userAgent) => {
  const missingUa = userAgent === "";
  expect(devices.read(userAgent)).toMatchObject({ deviceType: "bot", isBot: true, missingUa });
});

test.each(HEADLESS_BROWSERS)("%s is headless", (userAgent) => {
  expect(devices.read(userAgent).isHeadless).toBe(true);
  expect(devices.read(DESKTOP_CHROME).isHeadless).toBe(false);
});

test("a user agent is parsed once and then remembered", () => {
  expect(devices.read(DESKTOP_CHROME)).toBe(devices.read(DESKTOP_CHROME));
});

test("a flood of new user agents is read within a bound; system and device stay right (#0, P40)", () => {
  let guesses = 0;
  const flooded = openDevices(() => {
    guesses += 1;
  }, 10_000);
  const reads = 600;
  for (let read = 0; read < reads; read += 1) flooded.read(`${"Android; ".repeat(110)}${read}`);
  // A guess costs 2 µs instead of 250; `npm run bench -- hostile` measures the whole.
  expect(guesses).toBeGreaterThan(reads / 2);
  expect(flooded.read(`${IPHONE} new`)).toMatchObject({ deviceType: "mobile", os: "iOS" });
  expect(flooded.read(`${PIXEL} new`)).toMatchObject({ deviceType: "mobile", os: "Android" });
  expect(flooded.read(`${GOOGLEBOT} new`)).toMatchObject({ deviceType: "bot", isBot: true });
  const desktop = { deviceType: "desktop", os: "Windows", browser: "" };
  expect(flooded.read(`${DESKTOP_CHROME} new`)).toMatchObject(desktop);
  for (let read = 0; read < 100; read += 1) flooded.read(DESKTOP_CHROME);
  expect(flooded.read(`${DESKTOP_CHROME} newer`)).toMatchObject({ browser: "Chrome" });
});
