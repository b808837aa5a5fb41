import { expect, test } from "vitest";
import { located } from "./server-lines.ts";

test("a check of doctor names the host of the server that it asks, without the password (37)", () => {
  const urls: [string, string][] = [
    [
      "nats://user:hush@nats-1:4222, nats://user:hush@nats-2:4222",
      "NATS at nats-1:4222, nats-2:4222",
    ],
    ["nats://127.0.0.1:25323", "NATS at 127.0.0.1:25323"],
    ["tls://nats-1:4222", "NATS at nats-1:4222"],
  ];
  for (const [url, server] of urls) expect(located({ server: "NATS" }, url)).toEqual({ server });
  const postgres = "postgres://tracker:hush@db.example:5432/tracker?sslmode=verify-full";
  expect(located({ server: "Postgres" }, postgres).server).toBe("Postgres at db.example:5432");
});
