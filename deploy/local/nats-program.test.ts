import { expect, test } from "vitest";
import { parseGreeting } from "./embedded-nats.ts";
import { isNewEnough } from "./nats-program.ts";

test.each([
  ["nats-server: v2.9.10", false],
  ["nats-server: v2.10.27", true],
  ["2.15.1", true],
  ["3.0.0", true],
  ["1.99.0", false],
  ["no version", false],
])("%s is new enough: %s", (text, expected) => {
  expect(isNewEnough(text)).toBe(expected);
});

test("a greeting says who serves, and anything else is none", () => {
  const info = '{"server_id":"X","server_name":"tracker-1","version":"2.10.27","jetstream":true}';
  expect(parseGreeting(`INFO ${info} \r\n`)).toEqual({
    server_name: "tracker-1",
    version: "2.10.27",
    jetstream: true,
  });
  for (const text of ["", "HTTP/1.1 400 Bad Request\r\n", "INFO {}\r\n", "INFO {broken}\r\n"]) {
    expect(parseGreeting(text), text).toBeUndefined();
  }
});
