import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { OpsServer } from "../../../schemas/host/ops-server.ts";

let ops: OpsServer;
let everywhere: OpsServer;

beforeAll(async () => {
  const options = {
    role: "api",
    port: 0,
    metrics: new Metrics(),
    lifetime: { isDraining: false },
  } as const;
  ops = await OpsServer.open({ ...options, bind: "127.0.0.1" });
  everywhere = await OpsServer.open({ ...options, bind: "0.0.0.0" });
});
afterAll(async () => {
  await ops.close();
  await everywhere.close();
});

function statusOf({ port }: OpsServer, path: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request({ host: "127.0.0.1", port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.once("error", reject);
    call.end();
  });
}

const PATHS = ["/metrics", "/status", "/healthz", "/readyz", "/tls-ask?domain=x", "/"];

test("an operations port on loopback answers no page whose name points to 127.0.0.1", async () => {
  for (const path of PATHS)
    for (const host of ["evil.example", `evil.example:${ops.port}`, "localhost.evil.example", "[x"])
      expect(await statusOf(ops, path, host), `${host}${path}`).toBe(421);
});

test("an operations port on loopback answers to the names of this machine", async () => {
  for (const host of ["127.0.0.1", `127.0.0.1:${ops.port}`, "localhost", "[::1]:9", "LOCALHOST:80"])
    expect(await statusOf(ops, "/healthz", host), host).toBe(200);
});

test("an operations port for other machines answers to any name: the network decides who asks", async () => {
  expect(await statusOf(everywhere, "/healthz", "api:9441")).toBe(200);
});
