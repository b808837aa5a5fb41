import { expect, test } from "vitest";
import {
  BOTS,
  DESKTOP_CHROME,
  DEVICES,
  HEADLESS_BROWSERS,
} from "../../test/samples/user-agents.ts";
import { openDevices } from "./device.ts";

const devices = openDevices();

test.each(DEVICES)("%s is a %s with %s and %s", (userAgent, deviceType, os, browser) => {
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

test("a second reading of a user agent is the remembered one", () => {
  expect(devices.read(DESKTOP_CHROME)).toBe(devices.read(DESKTOP_CHROME));
});
