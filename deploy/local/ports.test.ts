import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pickPort, stablePorts } from "./ports.ts";

const HOST = "127.0.0.1";

test("a port is picked once, although nothing listens on it yet", async () => {
  const picked = await Promise.all(Array.from({ length: 100 }, () => pickPort(HOST)));
  expect(new Set(picked).size).toBe(100);
});

test("a port that another process has reserved is not kept, and free again once that process is killed", async () => {
  const port = await freeInOtherRange();
  const file = join(mkdtempSync(join(tmpdir(), "tracker-ports-")), "ports.json");
  const keep = async (): Promise<number> => {
    writeFileSync(file, JSON.stringify({ nats: port }));
    return (await stablePorts(["nats"], { file, host: HOST, others: [] })).nats;
  };
  const holder = spawn(process.execPath, ["-e", holdReservation(port)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(holder.stdout, "data");
  const other = await keep();
  expect(other).not.toBe(port);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ nats: other });
  holder.kill("SIGKILL");
  await once(holder, "exit");
  expect(await keep()).toBe(port);
});

test("a port on which something listens is not kept", async () => {
  const server = createServer().listen({ host: HOST, port: 0 });
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const file = join(mkdtempSync(join(tmpdir(), "tracker-ports-")), "ports.json");
  writeFileSync(file, JSON.stringify({ nats: port }));
  expect((await stablePorts(["nats"], { file, host: HOST, others: [] })).nats).not.toBe(port);
  server.close();
});

test("a port that the tracking domain or the api needs is neither picked nor kept", async () => {
  const port = await freeInOtherRange();
  const file = join(mkdtempSync(join(tmpdir(), "tracker-ports-")), "ports.json");
  writeFileSync(file, JSON.stringify({ nats: port }));
  const options = { file, host: HOST };
  expect((await stablePorts(["nats"], { ...options, others: [port] })).nats).not.toBe(port);
});

/** A program that does what another launcher does: it reserves the port and does not listen on it. */
function holdReservation(port: number): string {
  return `require("node:net").createServer().listen({ path: "\\0tracker-port-${port}" }, () => console.log("held"))`;
}

async function freeInOtherRange(): Promise<number> {
  const server = createServer().listen({ host: HOST, port: 0 });
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("a server has an address");
  return address.port;
}
