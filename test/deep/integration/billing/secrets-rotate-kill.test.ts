import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { projectFile } from "../../../../schemas/host/project-root.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { countByKey, purposeOf } from "../../../../schemas/secrets/sealed-columns.ts";
import { newSecretKey, SecretKeys } from "../../../../schemas/secrets/secret-keys.ts";
import { ApiWorld } from "../../../integration/api/api-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";

/** Several batches of 500 in each of two columns. */
const PARTNERS = 1_800;
/** Who owns a file in a test that root runs. */
const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;

const world = await forThisFile(ApiWorld.open());
const { workspaceId } = world.tenant;
const folder = mkdtempSync(join(tmpdir(), "tracker-rotate-"));
const file = join(folder, "secrets.key");
writeFileSync(file, `${newSecretKey()}\n`, { mode: 0o600 });
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ring = (): string => readFileSync(file, "utf8");

const partners = (
  await world.rows<{ id: number }>(
    `insert into affiliate (workspace_id, code, name, currency) select $1, 'S' || i, 'Partner ' || i, 'USD'
     from generate_series(1, $2::integer) i returning id`,
    [workspaceId, PARTNERS],
  )
).map(({ id }) => id);
await sealAll();

/** Details of every partner, in two columns. */
async function sealAll(): Promise<void> {
  const keys = new SecretKeys(ring);
  const sealed = (column: "affiliate" | "payment_account") =>
    partners.map((id) => keys.sealBytes(purposeOf(column, id), Buffer.from(`IBAN of ${id}`)));
  await world.rows(
    `update affiliate t set payment_details = n.sealed from unnest($1::integer[], $2::bytea[]) as n(id, sealed) where t.id = n.id`,
    [partners, sealed("affiliate")],
  );
  await world.rows(
    `insert into payment_account (affiliate_id, workspace_id, method, sealed, masked)
     select n.id, $3, 'wire', n.sealed, '{}' from unnest($1::integer[], $2::bytea[]) as n(id, sealed)`,
    [partners, sealed("payment_account"), workspaceId],
  );
}

/** How many values these keys open to what was sealed. */
async function opened(keyRing: string): Promise<number> {
  const keys = new SecretKeys(() => keyRing);
  const rows = await world.rows<{ id: number; details: Buffer; sealed: Buffer }>(
    `select a.id, a.payment_details as details, p.sealed from affiliate a join payment_account p on p.affiliate_id = a.id`,
  );
  return rows
    .flatMap(({ id, details, sealed }) => [
      keys.openBytes(purposeOf("affiliate", id), details)?.toString() === `IBAN of ${id}`,
      keys.openBytes(purposeOf("payment_account", id), sealed)?.toString() === `IBAN of ${id}`,
    ])
    .filter((isOpen) => isOpen).length;
}

type Rotation = {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
};

/** Before a command of root: files of others are closed to it. Another account might not reach the program. */
const BOUND_BY_MODES = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"];

/** `tracker secrets rotate` as its own process. */
function rotation({
  env = {},
  before = [],
}: {
  readonly env?: Readonly<Record<string, string>>;
  readonly before?: readonly string[];
} = {}): Rotation {
  const [program, ...rest] = [...before, process.execPath];
  const child = spawn(
    program,
    [...rest, projectFile(".build", "api", "tracker.js"), "secrets", "rotate"],
    {
      cwd: tmpdir(),
      env: {
        ...process.env,
        POSTGRES_URL: world.env.POSTGRES_URL,
        DATA_DIR: "/nowhere",
        SECRETS_KEY_FILE: file,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const ended = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]).then(
    ([, stdout, stderr]) => ({ code: child.exitCode, output: `${stdout}${stderr}` }),
  );
  return { child, ended };
}

/** Kills a rotation while it waits for one row, so that what comes before is sealed anew and what comes after is not. */
async function killAt(table: "affiliate" | "payment_account", id: number): Promise<void> {
  const column = table === "affiliate" ? "id" : "affiliate_id";
  await inTransaction(world.pool, async (tx) => {
    await tx.query({ text: `select from ${table} where ${column} = $1 for update`, values: [id] });
    const { child, ended } = rotation();
    await until(
      "the rotation waits for the row",
      async () => {
        // On another connection: a transaction sees the first list of sessions that it has asked for.
        const [row] = await world.rows<{ waits: boolean }>(
          `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
             and query like $1) as waits`,
          [`update ${table} t set %`],
        );
        return row?.waits === true;
      },
      { timeoutMs: 60_000 },
    );
    child.kill("SIGKILL");
    expect((await ended).code).toBeNull();
  });
}

test.each([
  ["in the first batch", "affiliate", 0],
  ["in the middle of a column", "affiliate", 1_200],
  ["before the last batch", "payment_account", 1_200],
] as const)(
  "a rotation that is killed %s and run again leaves nothing under the old key (N9)",
  async (_where, table, place) => {
    const before = ring();
    await killAt(table, partners[place] ?? 0);
    const halfway = ring();
    expect(halfway.trim().split("\n").slice(1)).toEqual(before.trim().split("\n"));
    expect(await opened(halfway)).toBe(2 * PARTNERS);
    // The old key is still needed, so it must not be lost.
    expect(await opened(halfway.split("\n", 1)[0] ?? "")).toBeLessThan(2 * PARTNERS);
    const { code, output } = await rotation().ended;
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toContain("An earlier rotation to");
    expect(ring()).toBe(halfway);
    const [first = ""] = halfway.split("\n");
    expect(await opened(first)).toBe(2 * PARTNERS);
    expect([...(await countByKey(world.pool)).keys()]).toEqual([
      new SecretKeys(() => first).sealingId,
    ]);
    writeFileSync(file, `${first}\n`);
  },
);

test("a draft that a killed rotation has left is replaced, and the file keeps its owner and mode (N9)", async () => {
  writeFileSync(`${file}.new`, "half a li");
  chmodSync(file, 0o640);
  const owner = IS_ROOT ? NOBODY : statSync(file).uid;
  chownSync(file, owner, statSync(file).gid);
  const { code, output } = await rotation().ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(existsSync(`${file}.new`)).toBe(false);
  const { uid, mode } = statSync(file);
  expect([uid, mode & 0o777]).toEqual([owner, 0o640]);
  expect(await opened(ring().split("\n", 1)[0] ?? "")).toBe(2 * PARTNERS);
});

type Broken = { readonly env: Record<string, string>; readonly says: RegExp };
const other = (name: string, content?: string): string => {
  const path = join(folder, name);
  if (content !== undefined) writeFileSync(path, content);
  return path;
};

test.each<[string, () => Broken]>([
  [
    "missing",
    () => ({
      env: { SECRETS_KEY_FILE: other("gone") },
      says: /SECRETS_KEY_FILE: .*gone cannot be read \(ENOENT\)/,
    }),
  ],
  [
    "empty",
    () => ({
      env: { SECRETS_KEY_FILE: other("empty", "") },
      says: /SECRETS_KEY_FILE: .*empty is empty/,
    }),
  ],
  [
    "garbage",
    () => ({
      env: { SECRETS_KEY_FILE: other("garbage", "hush") },
      says: /SECRETS_KEY_FILE: expected one line for each key.*openssl rand -base64 32/,
    }),
  ],
  [
    "a folder",
    () => ({
      env: { SECRETS_KEY_FILE: folder },
      says: /SECRETS_KEY_FILE: .* cannot be read \(EISDIR\)/,
    }),
  ],
  [
    "missing in DATA_DIR",
    () => ({
      env: { SECRETS_KEY_FILE: "", DATA_DIR: folder + "/none" },
      says: /There is no key: name its file with SECRETS_KEY_FILE/,
    }),
  ],
  [
    "a variable",
    () => ({
      env: { SECRETS_KEY_FILE: "", SECRETS_KEY: ring().trim() },
      says: /SECRETS_KEY is a variable, which this cannot change: put a line/,
    }),
  ],
  [
    "another ring",
    () => ({
      env: { SECRETS_KEY_FILE: other("other", `${newSecretKey()}\n`) },
      says: /This ring opens no value: they are sealed under [0-9a-f]{8}. Put the line of that key back/,
    }),
  ],
])(
  "a ring that is %s is refused with what to do, and no value is changed (N9)",
  async (_what, make) => {
    const { env, says } = make();
    const kept = ring();
    const { code, output } = await rotation({ env }).ended;
    expect(output).toMatch(says);
    expect(code).not.toBe(0);
    expect(output).not.toMatch(/hush|\n\s+at /);
    expect(ring()).toBe(kept);
    expect(await opened(kept)).toBe(2 * PARTNERS);
  },
);

test.runIf(IS_ROOT)(
  "a ring that cannot be read or written changes nothing and says who may do it (N9)",
  async () => {
    const kept = ring();
    chownSync(folder, NOBODY, NOBODY);
    chmodSync(folder, 0o755);
    chownSync(file, NOBODY, NOBODY);
    chmodSync(file, 0o600);
    const unread = await rotation({ before: BOUND_BY_MODES }).ended;
    expect(unread.output).toMatch(/SECRETS_KEY_FILE: .*secrets.key cannot be read \(EACCES\)/);
    chmodSync(file, 0o644);
    const unwritten = await rotation({ before: BOUND_BY_MODES }).ended;
    expect(unwritten.output).toMatch(
      /cannot be replaced \(EACCES.*Nothing was sealed anew. Run this as a user who may write its folder/,
    );
    expect([unread.code, unwritten.code]).toEqual([2, 1]);
    expect(ring()).toBe(kept);
    expect(await opened(kept)).toBe(2 * PARTNERS);
  },
);
