import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { clickIdParts } from "../../../schemas/ids/click-id.ts";
import { startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const HOUR_MS = 3_600_000;
/** The greatest difference between an answer's time and the clock read here afterwards, on a loaded machine. */
const NEAR_MS = 60_000;
const HANG_MS = 60_000;
const TIMEOUT_MS = 300_000;

const Clicks = z.object({ data: z.array(z.object({ click_id: z.string(), ts: z.string() })) });
const Report = z.object({ ok: z.boolean(), click_id: z.string().optional() });

test("after a clock that ran an hour ahead, clicks have their true time, are found and convert (#11)", {
  timeout: TIMEOUT_MS,
}, async () => {
  const shiftFile = join(tmpdir(), `tracker-clock-${randomUUID()}`);
  const setClock = async (shiftMs: number): Promise<void> => {
    await writeFile(`${shiftFile}.new`, String(shiftMs));
    await rename(`${shiftFile}.new`, shiftFile);
  };
  await setClock(0);
  const preload = pathToFileURL(projectFile(".build", "test", "system", "set-clock.js"));
  await using system = await startSystem({
    env: { NODE_OPTIONS: `--import ${preload.href}`, CLOCK_SHIFT_FILE: shiftFile },
  });
  const { client } = system;
  const click = async (): Promise<string> => {
    const answer = await client.attempt(client.demo.links.affiliate);
    expect(answer.status).toBe(302);
    return /[0-9a-f]{32}/.exec(String(answer.headers["location"]))?.[0] ?? "";
  };
  const storedAtMs = async (clickId: string): Promise<number> => {
    const { ts } = await until(
      "the click is listed",
      async () => {
        const range = `from=${encodeURIComponent(new Date(Date.now() - HOUR_MS).toISOString())}&to=${encodeURIComponent(new Date(Date.now() + 2 * HOUR_MS).toISOString())}`;
        const { data } = Clicks.parse(await client.rest(`/clicks?${range}&limit=50`));
        return data.find((row) => row.click_id === clickId);
      },
      { timeoutMs: HANG_MS, pollMs: 200 },
    );
    return Date.parse(ts);
  };
  try {
    await setClock(HOUR_MS);
    const ahead = await until(
      "a click has the time of the clock that is ahead",
      async () => {
        const clickId = await click();
        return clickIdParts(clickId).atMs > Date.now() + HOUR_MS / 2 ? clickId : undefined;
      },
      { timeoutMs: HANG_MS, pollMs: 50 },
    );
    await setClock(0);
    const after = await until(
      "a click has the true time again",
      async () => {
        const clickId = await click();
        return Math.abs(clickIdParts(clickId).atMs - Date.now()) < NEAR_MS ? clickId : undefined;
      },
      { timeoutMs: HANG_MS, pollMs: 50 },
    );
    const token = client.demo.postback_token;
    for (const clickId of [after, ahead]) {
      const answer = await client.attempt(
        `${client.demo.tracking_url}/pb?token=${token}&click_id=${clickId}`,
      );
      expect(answer.status, answer.body).toBe(200);
      expect(Report.parse(JSON.parse(answer.body)).ok, answer.body).toBe(true);
    }
    expect(Math.abs((await storedAtMs(after)) - Date.now())).toBeLessThan(NEAR_MS + HANG_MS);
    expect(await storedAtMs(after)).toBe(clickIdParts(after).atMs);
    expect(await storedAtMs(ahead)).toBe(clickIdParts(ahead).atMs);
  } finally {
    await rm(shiftFile, { force: true });
  }
});
