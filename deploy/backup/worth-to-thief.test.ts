import { expect, test } from "vitest";
import { worthToThief } from "./worth-to-thief.ts";

test("the last line of a backup names second factors exactly if the archive can open them", () => {
  const open = worthToThief({ isSealed: false, hasConsoleSecret: true, hasSecretsKey: false });
  expect(open).toContain("every second factor (console.secret)");
  expect(open).toContain("BACKUP_PASSPHRASE_FILE");
  const without = worthToThief({ isSealed: false, hasConsoleSecret: false, hasSecretsKey: true });
  expect(without).not.toContain("second factor");
  expect(without).toContain("payment details of partners (secrets.key)");
  expect(open).not.toContain("payment details");
});

test("the last line of a sealed backup says what a thief learns and who else cannot open it", () => {
  const sealed = worthToThief({ isSealed: true, hasConsoleSecret: true, hasSecretsKey: true });
  expect(sealed).toContain("without the passphrase a thief learns its size and its age");
  expect(sealed).toContain("Nobody can restore it without the passphrase");
  expect(sealed).not.toContain("\n");
});
