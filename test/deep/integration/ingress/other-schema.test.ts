import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../../services/for-this-file.ts";
import { ChildServer } from "../../../system/child-server.ts";
import { IngressFleet } from "../../../system/ingress-fleet.ts";
import { ingressProgram, nodeProgram } from "../../../system/service-program.ts";
import { freePort } from "../../../system/start-system.ts";
import { locationOf, untilLeadsTo } from "./link-location.ts";

const Status = z.object({ catalog_unreadable_records: z.int() });
const TIMEOUT_MS = 120_000;

const fleet = await forThisFile(IngressFleet.open({ lanes: 1 }));
await fleet.world.addOffer({ code: "OFFER1", destination_url: "https://shop.example/first" });
await fleet.world.addOffer({ code: "OFFER2", destination_url: "https://shop.example/second" });
await fleet.untilCurrent();

test("an ingress uses all records it can read, reports the others and refuses no report (#10, P15)", {
  timeout: TIMEOUT_MS,
}, async () => {
  const { world } = fleet;
  await world.change(
    `update offer set caps = '{"clicks": "of another release"}', destination_url = 'https://shop.example/unreadable' where code = 'OFFER1'`,
  );
  await world.change(
    "update offer set destination_url = 'https://shop.example/new' where code = 'OFFER2'",
  );
  await untilLeadsTo(fleet.port, "https://shop.example/new", "/r/OFFER2/PARTNR");
  expect(await locationOf(fleet.port)).toBe("https://shop.example/first");
  const health = await fetch(`http://127.0.0.1:${fleet.port}/health`);
  expect(health.status).toBe(200);
  const status = await fetch(`http://127.0.0.1:${fleet.opsPorts[0] ?? 0}/status`);
  expect(Status.parse(await status.json())).toEqual({ catalog_unreadable_records: 1 });
  expect(fleet.output).toContain("catalog.record-unreadable");
  expect(fleet.output).not.toContain("postgres-is-away");
  expect((await world.report({ click_id: "0".repeat(32) })).httpStatus).toBe(503);

  await world.change("update offer set caps = '{}' where code = 'OFFER1'");
  await untilLeadsTo(fleet.port, "https://shop.example/unreadable");
  expect((await world.report({ click_id: "0".repeat(32) })).httpStatus).toBe(200);
});

test("an ingress does not start on a newer schema (exit code 3); a running one continues (#10)", {
  timeout: TIMEOUT_MS,
}, async () => {
  const { world } = fleet;
  const port = await freePort();
  await world.rows(
    "insert into schema_migration (number, name) values (9999, 'of a newer release')",
  );
  try {
    await expect(fleet.addIngress({ TRACKING_PORT: String(port) })).rejects.toThrow(
      /^ended with 3:/,
    );
    await world.change(
      "update offer set destination_url = 'https://shop.example/later' where code = 'OFFER2'",
    );
    await untilLeadsTo(fleet.port, "https://shop.example/later", "/r/OFFER2/PARTNR");
  } finally {
    await world.rows("delete from schema_migration where number = 9999");
  }
});

test("no process starts on data of a commit before the first release (exit code 3), none writes there", {
  timeout: TIMEOUT_MS,
}, async () => {
  const { world } = fleet;
  const processes = async (): Promise<unknown> =>
    await world.rows("select process_id from system_process order by 1");
  const before = await processes();
  await world.rows("update schema_migration set name = '0001_catalog.sql' where number = 1");
  try {
    const env = { ...world.env, DATA_DIR: `${fleet.folder}/older` };
    const ports = { TRACKING_PORT: String(await freePort()), API_PORT: String(await freePort()) };
    const programs = [await ingressProgram(), nodeProgram("processors"), nodeProgram("api")];
    for (const program of programs) {
      const started = ChildServer.spawn(program, { ...env, ...ports });
      expect(await started.ended, started.output).toBe(3);
      expect(started.output).toContain("Stay at 1ec7599a");
    }
    expect(await processes()).toEqual(before);
  } finally {
    await world.rows("update schema_migration set name = '0001_schema.sql' where number = 1");
  }
});

test("an ingress starts on its copy while Postgres is unreachable (#10, P2)", {
  timeout: TIMEOUT_MS,
}, async () => {
  const port = await freePort();
  const own = { TRACKING_PORT: String(port), DATA_DIR: `${fleet.folder}/own` };
  await fleet.terminate(await fleet.addIngress(own));
  await fleet.addIngress({
    ...own,
    POSTGRES_URL: `postgres://nobody@127.0.0.1:${await freePort()}/none`,
  });
  expect(await locationOf(port)).toMatch(/^https:\/\/shop\.example\//);
});
