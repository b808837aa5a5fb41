import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { pixelPath, readPixels } from "../../../../ingress/pixels/pixel-files.ts";
import { connectNats } from "../../../../schemas/nats/connect.ts";
import { ChildServer } from "../../../system/child-server.ts";
import { ingressProgram } from "../../../system/service-program.ts";
import { freePort } from "../../../system/start-system.ts";
import { until } from "../../../system/until.ts";

/** Starts a server that lets two requests wait (`npm run build` first), and makes two reports wait. */
async function aBusyServer(): Promise<{ url: string; folder: string; child: ChildServer }> {
  const folder = await mkdtemp(join(tmpdir(), "tracker-busy-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const natsUrl = inject("natsUrl");
  const silent = await connectNats({ url: natsUrl, name: "test", prefix: randomUUID() });
  onTestFinished(() => silent.connection.close());
  let reports = 0;
  const callback = (): void => {
    reports += 1;
  };
  silent.connection.subscribe(silent.subjects.postback, { callback });
  await silent.connection.flush();
  const port = String(await freePort());
  const command = (await ingressProgram()).map((argument) =>
    argument.replace(/ingress\/main\.js$/, "test/system/busy-server.js"),
  );
  const child = ChildServer.spawn([...command, port, natsUrl, silent.prefix, folder]);
  onTestFinished(async () => {
    await child.end();
  });
  if (!(await child.untilRunning())) throw new Error(child.output);
  const url = `http://127.0.0.1:${port}`;
  const held = new AbortController();
  onTestFinished(() => held.abort());
  for (const txid of ["1", "2"])
    fetch(`${url}/pb?txid=${txid}`, { signal: held.signal }).catch(() => undefined);
  await until("two reports wait", () => reports === 2, { pollMs: 5 });
  return { url, folder, child };
}

test("while too many requests wait, each path answers in its form and no pixel is lost (P15)", async () => {
  const { url, folder, child } = await aBusyServer();
  const ask = async (path: string, method = "GET"): Promise<[number, Headers, string]> => {
    const answer = await fetch(`${url}${path}`, { method });
    return [answer.status, answer.headers, await answer.text()];
  };
  const pixels = [
    ["/px", "image/gif"],
    ["/px.gif", "image/gif"],
    ["/px.html", "text/html; charset=utf-8"],
  ] as const;
  for (const [path, type] of pixels) {
    const [status, headers] = await ask(`${path}?txid=kept`);
    const outcome = headers.get("x-tracker-conversion");
    expect([status, headers.get("content-type"), outcome]).toEqual([
      200,
      type,
      "error: temporarily unavailable",
    ]);
  }
  const kept = readPixels(pixelPath(folder, 1)).waiting.map(({ line }) => line);
  expect(kept).toEqual(Array(3).fill(expect.stringContaining('"txid":"kept"')));

  const [pbStatus, pbHeaders, pbBody] = await ask("/pb?txid=3");
  expect([pbStatus, pbHeaders.get("retry-after"), JSON.parse(pbBody)]).toEqual([
    503,
    "30",
    { ok: false, error: "temporarily unavailable" },
  ]);
  const [lpStatus, lpHeaders, lpBody] = await ask("/lp", "POST");
  expect([lpStatus, lpHeaders.get("access-control-allow-origin"), JSON.parse(lpBody)]).toEqual([
    503,
    "*",
    { error: "click store unavailable" },
  ]);
  expect((await ask("/sdk.js"))[0]).toBe(200);
  const [clkStatus, clkHeaders] = await ask("/clk", "POST");
  expect(clkStatus).toBe(503);
  // Each 503 has a line in the access log under the ID that its answer shows.
  const ids = [pbHeaders, lpHeaders, clkHeaders].map((all) => all.get("x-request-id") ?? "none");
  await until(
    "all are in the access log",
    async () => {
      const text = await readFile(join(folder, "access.log"), "utf8");
      const lines = text.split("\n").filter((line) => line.includes('"status":503'));
      return ids.every((id) =>
        lines.some((line) => line.includes(`"rid":"${id}"`) && line.includes('"too_many"')),
      );
    },
    { pollMs: 20 },
  );
  // The inbound log has each of them; /sdk.js and /clk have no rows there.
  const rows = (): number => child.output.split('"result":"unavailable"').length - 1;
  await until("all are logged", () => rows() === 5, { pollMs: 5 });
});
