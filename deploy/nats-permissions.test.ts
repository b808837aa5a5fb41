import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../schemas/host/project-root.ts";
import { permissionsOf } from "../schemas/nats/permissions.ts";
import { natsPermissions } from "./nats-permissions.ts";

test("the subject lists of the NATS users are those of the sources: else `npm run servers:write`", () => {
  const file = projectFile("deploy", "servers", "nats", "permissions.conf");
  expect(readFileSync(file, "utf8")).toBe(natsPermissions());
});

test("no process may read the answers to another, or publish what another decides", () => {
  const { ingress, processors, api } = permissionsOf("");
  for (const user of [ingress, processors, api]) {
    expect(user?.subscribe.filter((subject) => subject.startsWith("_INBOX"))).toHaveLength(1);
    expect(user?.publish.filter((subject) => /^(>|_INBOX|\$SYS)/.test(subject))).toEqual([]);
  }
  expect(processors?.publish).not.toContain("clicks.*");
  expect(ingress?.publish).not.toContain("click-watermark");
  expect(api?.publish.filter((subject) => subject.startsWith("clicks"))).toEqual([]);
});
