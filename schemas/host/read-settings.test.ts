import { expect, test } from "vitest";
import { z } from "zod";
import { durations, readSettings, SettingsError } from "./read-settings.ts";

const Schema = z.object({ WAITS: durations({ itemsMax: 4 }) });

test.each([
  ["5s,2m,1h,1d", [5_000, 120_000, 3_600_000, 86_400_000]],
  ["250ms, 7", [250, 7_000]],
  ["0,5s", [5_000]],
  ["0", []],
  ["5s,0s", [5_000, 0]],
])("waits %s are %j ms", (text, waitsMs) => {
  expect(readSettings(Schema, { WAITS: text })).toEqual({ WAITS: waitsMs });
});

test.each(["soon", "5s,", "-5s", "1.5s", "1s,1s,1s,1s,1s", "5 s", "9999999999s"])(
  "%j is no list of waits",
  (text) => {
    expect(() => readSettings(Schema, { WAITS: text })).toThrow(SettingsError);
  },
);
