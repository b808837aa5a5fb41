import { expect, test } from "vitest";
import { SETTINGS, type SettingDefinition } from "./setting-definitions.ts";

const all = Object.entries<SettingDefinition>(SETTINGS);

test.each(all)("%s has a default that its type accepts, or says what happens without", (_, one) => {
  const { type, default: value, unset, readBy, requiredBy = [] } = one;
  expect(value === undefined ? unset : type.parse(value)).toBeDefined();
  expect(readBy).toEqual(expect.arrayContaining([...requiredBy]));
});

test("every URL that may hold a password is a secret", () => {
  const urls = all.filter(([, { type }]) => type.accepts.includes("password"));
  expect(urls.map(([name]) => name)).toEqual([
    "POSTGRES_URL",
    "POSTGRES_DIRECT_URL",
    "NATS_URL",
    "CLICKHOUSE_URL",
    "CLICKHOUSE_READER_URL",
    "NATS_SYS_URL",
    "SMTP_URL",
  ]);
  expect(urls.filter(([, { isSecret }]) => isSecret !== true)).toEqual([]);
});
