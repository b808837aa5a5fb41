import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { clickhouseUsers } from "./clickhouse-users.ts";

test("a password is in no configuration file", () => {
  const users = clickhouseUsers({
    owner: { user: "tracker", password: "the owner's" },
    reader: { user: "tracker_reports", password: "the reader's" },
    memoryBytesMax: 1_000_000_000,
  });
  for (const password of ["the owner's", "the reader's"]) {
    expect(users).not.toContain(password);
    expect(users).toContain(createHash("sha256").update(password).digest("hex"));
  }
});
