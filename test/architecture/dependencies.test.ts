import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { type Cruise, cruise } from "../tiers/cruise.ts";
import { PRODUCT_FOLDERS } from "./source-files.ts";

// `npm run check` applies the rules to this project (test/tiers/check-imports.ts); here each rule proves that it finds its fault.

/** Valid sources that the faults below import. They break no rule. */
const GROUND: Record<string, string> = {
  "ingress/settings.ts": `export const port = 8080;`,
  "ingress/server.ts": `import uws from "uWebSockets.js"; export const app = uws.App;`,
  "ingress/main.ts": `import { port } from "./settings.ts"; import { app } from "./server.ts"; app().listen(port, String);`,
  "ingress/routes/click.ts": `import type { HttpResponse } from "uWebSockets.js"; import type { Pool } from "pg"; export type Both = [HttpResponse, Pool];`,
  "processors/clicks/processor.ts": `export const clicks = 1;`,
  "processors/conversions/processor.ts": `export const conversions = 1;`,
  "processors/main.ts": `import { clicks } from "./clicks/processor.ts"; import { conversions } from "./conversions/processor.ts"; export const roles = [clicks, conversions];`,
  "api/cycle-back.ts": `import { there } from "./cycle-away.ts"; export const back = (): number => there();`,
  "api/console/web/page.tsx": `export const page = 1;`,
  "api/helpers/thing.ts": `export const thing = 1;`,
  "schemas/money/amount.ts": `import assert from "node:assert"; import { z } from "zod"; export const Amount = z.string(); assert(Amount);`,
  "schemas/postgres/connect.ts": `import pg from "pg"; import { Amount } from "../money/amount.ts"; export const pool = [pg.Pool, Amount];`,
  "schemas/nats/connect.ts": `import { connect } from "@nats-io/transport-node"; export const open = connect;`,
  "schemas/clickhouse/connect.ts": `import { createClient } from "@clickhouse/client"; export const open = createClient;`,
  "schemas/tracing/otlp-tracing.ts": `import { trace } from "@opentelemetry/api"; export const tracer = trace;`,
  "deploy/local/main.ts": `import { open } from "ffi-rs"; export const engine = open;`,
  "test/samples/a-click.ts": `export const aClick = {};`,
  "test/replay/replay.ts": `export const replay = 1;`,
  "test/services/postgres.ts": `import pg from "pg"; export const pool = pg.Pool;`,
};

/** Sources with one fault each, by the rule that must find it and their path. */
const PLANTED: Readonly<Record<string, string>> = {
  "no-cycles api/cycle-away.ts": `import { back } from "./cycle-back.ts"; export const there = (): number => back();`,
  "schemas-knows-no-process schemas/money/upward.ts": `import { clicks } from "../../processors/clicks/processor.ts"; export const up = clicks;`,
  "processes-are-strangers api/neighbour.ts": `import { app } from "../ingress/server.ts"; export const other = app;`,
  "tracker-runs-programs deploy/tracker.ts": `export const reached = import("../processors/clicks/processor.ts");`,
  "words-do-no-io schemas/money/file.ts": `import { readFileSync } from "node:fs"; export const read = readFileSync;`,
  "words-do-no-io schemas/money/wire.ts": `import { pool } from "../postgres/connect.ts"; export const wire = pool;`,
  "words-do-no-io schemas/anything-new/socket.ts": `import { connect } from "node:net"; export const open = connect;`,
  "client-stands-alone api/docs/clients/typescript/borrower.ts": `import { offers } from "../../../catalog/offers/offers.ts"; export const other = offers;`,
  "console-is-a-client api/console/web/borrower.tsx": `import { offers } from "../../catalog/offers/offers.ts"; export const other = offers;`,
  "service-imports-no-page api/page-borrower.ts": `import { page } from "./console/web/page.tsx"; export const other = page;`,
  "roles-are-strangers processors/clicks/neighbour.ts": `import { conversions } from "../conversions/processor.ts"; export const other = conversions;`,
  "request-knows-no-neighbour ingress/request/decider.ts": `import type { Both } from "../routes/click.ts"; export type Decided = Both;`,
  "test-system-knows-no-replay test/system/replayer.ts": `import { replay } from "../replay/replay.ts"; export const again = replay;`,
  "settings-only-in-main ingress/routes/settings-reader.ts": `import { port } from "../settings.ts"; export const read = port;`,
  "driver-behind-its-wire-pg api/catalog/offers/offers.ts": `import pg from "pg"; export const pool = pg.Pool;`,
  "driver-behind-its-wire-clickhouse api/reports/run.ts": `import { createClient } from "@clickhouse/client"; export const open = createClient;`,
  "driver-behind-its-wire-nats processors/clicks/stream.ts": `export const open = (): unknown => import("@nats-io/jetstream");`,
  "driver-behind-its-wire-uwebsockets ingress/routes/raw.ts": `import uws from "uWebSockets.js"; export const app = uws.App;`,
  "driver-behind-its-wire-opentelemetry schemas/tracing/other.ts": `import { trace } from "@opentelemetry/api"; export const span = trace;`,
  "driver-behind-its-wire-ffi schemas/clickhouse/engine.ts": `import { createRequire } from "node:module"; const require = createRequire(import.meta.url); export const ffi: unknown = require("ffi-rs");`,
  "product-imports-no-test api/borrowed.ts": `import { aClick } from "../test/samples/a-click.ts"; export const click = aClick;`,
  "unit-tests-need-no-server api/borrowed.test.ts": `import { pool } from "../test/services/postgres.ts"; export const server = pool;`,
  "product-needs-no-dev-dependency api/load.ts": `import fc from "fast-check"; export const load = fc;`,
  "dependency-is-declared api/undeclared.ts": `import semver from "semver"; export const undeclared = semver;`,
  "everything-resolves api/nowhere.ts": `import { nothing } from "./not-there.ts"; export const missing = nothing;`,
  "no-junk-drawer api/drawer.ts": `import { thing } from "./helpers/thing.ts"; export const found = thing;`,
};
const FAULTS = Object.entries(PLANTED).map(([name, source]) => {
  const [rule = "", path = ""] = name.split(" ");
  return { rule, path, source };
});

let planted: string;
let found: Cruise["summary"];

beforeAll(() => {
  planted = mkdtempSync(join(tmpdir(), "planted-faults-"));
  for (const file of ["package.json", "tsconfig.json"]) {
    copyFileSync(projectFile(file), join(planted, file));
  }
  symlinkSync(projectFile("node_modules"), join(planted, "node_modules"));
  const ground = Object.entries(GROUND).map(([path, source]) => ({ path, source }));
  for (const { path, source } of [...ground, ...FAULTS]) {
    mkdirSync(dirname(join(planted, path)), { recursive: true });
    writeFileSync(join(planted, path), source);
  }
  found = cruise(planted, [...PRODUCT_FOLDERS, "test"]).summary;
});

afterAll(() => {
  rmSync(planted, { recursive: true });
});

test.each(FAULTS)("the rule $rule finds its planted fault in $path", ({ rule, path }) => {
  const rules = found.violations
    .filter(({ from }) => from === path)
    .map((fault) => fault.rule.name);
  expect(rules).toContain(rule);
});

test("no rule reports a source without a fault", () => {
  // The other half of the planted cycle is a fault as well.
  const clean = Object.keys(GROUND).filter((path) => path !== "api/cycle-back.ts");
  expect(found.violations.filter(({ from }) => clean.includes(from))).toEqual([]);
});

test("every rule has a planted fault", () => {
  const { stdout } = spawnSync(
    process.execPath,
    [
      "-p",
      `require(${JSON.stringify(projectFile(".dependency-cruiser.cjs"))}).forbidden.map((rule) => rule.name).join()`,
    ],
    { encoding: "utf8" },
  );
  const planned = new Set(FAULTS.map(({ rule }) => rule));
  expect(
    stdout
      .trim()
      .split(",")
      .filter((rule) => !planned.has(rule)),
  ).toEqual([]);
});
