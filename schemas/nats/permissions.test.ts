import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../host/project-root.ts";
import { permissionsOf } from "./permissions.ts";
import { permissionsFile, WRITTEN_BY } from "./permissions-file.ts";

test("the subject lists of the NATS users are those of the sources: else `npm run servers:write`", () => {
  const file = projectFile("deploy", "servers", "nats", "permissions.conf");
  expect(readFileSync(file, "utf8")).toBe(permissionsFile({ prefix: "" }, WRITTEN_BY));
});

test("no process may read the answers to another, or publish what another decides", () => {
  const { ingress, processors, api } = permissionsOf({ prefix: "" });
  for (const user of [ingress, processors, api]) {
    expect(user?.subscribe.filter((subject) => subject.startsWith("_INBOX"))).toHaveLength(1);
    expect(user?.publish.filter((subject) => /^(>|_INBOX|\$SYS)/.test(subject))).toEqual([]);
  }
  expect(processors?.publish).not.toContain("clicks.*");
  expect(ingress?.publish).not.toContain("click-watermark");
  expect(api?.publish.filter((subject) => subject.startsWith("clicks"))).toEqual([]);
});

test("with lane groups each user may use every stream, and still none of another name", () => {
  const { ingress, processors, api } = permissionsOf({ prefix: "", groups: 2 });
  const one = permissionsOf({ prefix: "" });
  for (const [name, user] of Object.entries({ ingress, processors, api })) {
    const before = one[name]?.publish ?? [];
    const expected = before.flatMap((subject) =>
      subject.includes("CLICKS")
        ? [subject.replace("CLICKS", "CLICKS_0"), subject.replace("CLICKS", "CLICKS_1")]
        : [subject],
    );
    expect(user?.publish.toSorted()).toEqual(expected.toSorted());
    expect(user?.subscribe).toEqual(one[name]?.subscribe);
  }
});
