import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { SETTINGS, type SettingDefinition } from "../../schemas/host/setting-definitions.ts";

const DEPLOY = projectFile("deploy");
const SECRETS = Object.entries<SettingDefinition>(SETTINGS)
  .filter(([, { isSecret }]) => isSecret === true)
  .map(([name]) => name);
/** `npm start` alone has it: it seals the archives. */
const OF_START = ["BACKUP_PASSPHRASE"];

function textOf(folder: string, ending: RegExp): string {
  return readdirSync(join(DEPLOY, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map(({ name }) => readFileSync(join(DEPLOY, folder, name), "utf8"))
    .join("\n");
}

function carriedBy(text: string): string[] {
  return SECRETS.filter((name) => text.includes(`${name}_FILE`));
}

test("every secret setting has its place in the chart, as a file", () => {
  const text = textOf("helm/tracker/templates", /[.](tpl|yaml)$/);
  // FX_FEED_URL comes by `secretEnv`, because few installations have a key in this address.
  const others = [...OF_START, "FX_FEED_URL"];
  expect(SECRETS.filter((name) => !carriedBy(text).includes(name)).toSorted()).toEqual(others);
});

test("`secretEnv` of the chart takes every secret setting, and no other name", () => {
  const Schema = z.looseObject({
    definitions: z.looseObject({
      secretEnv: z.looseObject({ propertyNames: z.object({ enum: z.array(z.string()) }) }),
    }),
  });
  const file = join(DEPLOY, "helm", "tracker", "values.schema.json");
  const { definitions } = Schema.parse(JSON.parse(readFileSync(file, "utf8")));
  expect(definitions.secretEnv.propertyNames.enum.toSorted()).toEqual(SECRETS.toSorted());
});

test("every secret setting has its place in Compose, as a file", () => {
  const text = textOf("compose", /[.]yaml$/);
  // Addresses without a password are plain there, and Compose has neither PgBouncer nor keys of rates.
  const others = [...OF_START, "FX_FEED_URL", "NATS_URL", "POSTGRES_DIRECT_URL", "POSTGRES_URL"];
  expect(SECRETS.filter((name) => !carriedBy(text).includes(name)).toSorted()).toEqual(others);
});

test("every secret setting has its place in the units or their drop-ins, as a file", () => {
  const text = `${textOf("systemd", /[.]service$/)}\n${textOf("systemd/drop-ins", /[.]conf$/)}`;
  expect(SECRETS.filter((name) => !carriedBy(text).includes(name))).toEqual(OF_START);
});

test("each drop-in of the units hands a secret to the variable that names it", () => {
  const files = readdirSync(join(DEPLOY, "systemd", "drop-ins"));
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const text = readFileSync(join(DEPLOY, "systemd", "drop-ins", file), "utf8");
    expect(text, file).toMatch(/^# .*[.]conf/);
    const loaded = [...text.matchAll(/^LoadCredential=([a-z-]+):.etc.tracker.secrets.(.*)$/gm)];
    for (const [, name, source] of loaded) expect(source, file).toBe(name);
    const named = [...text.matchAll(/\b([A-Z_]+)_FILE=%d.([a-z-]+)/g)];
    expect(named.map(([, , name]) => name)).toEqual(loaded.map(([, name]) => name));
    for (const [, variable = ""] of text.matchAll(/\b([A-Z_]{4,})_FILE=/g))
      expect(SECRETS, file).toContain(variable);
  }
});

test("the pages name every secret that a unit loads, and how it is made (23)", () => {
  const units = textOf("systemd", /[.]service$/);
  const pages = textOf("pages", /^bare-metal.*[.]md$/);
  const files = [...units.matchAll(/^LoadCredential=[a-z-]+:(.etc.tracker.secrets.([a-z-]+))$/gm)];
  expect(files.length).toBeGreaterThan(10);
  // The page makes the three logins of ClickHouse in a loop.
  const made = ["migrate", "writer", "reader"].reduce(
    (text, login) => `${text}\n${pages.replaceAll("$login", login)}`,
    "",
  );
  for (const [, , name = ""] of files) {
    expect(pages, name).toContain(`\`${name}\``);
    expect(made, name).toMatch(new RegExp(`> (?:/etc/tracker/secrets/)?${name}$`, "m"));
  }
});
