import { expect, test } from "vitest";
import { judgeSecretKeys } from "./judge-secret-keys.ts";

const counts = new Map([
  ["aaaaaaaa", 3],
  ["bbbbbbbb", 2],
]);

test("values of a key that is not in the ring refuse, and others are counted (N9)", () => {
  const missing = judgeSecretKeys({ ids: ["aaaaaaaa"], counts, open: [] });
  expect(missing.faults).toEqual([
    {
      weight: "refuses",
      sentence: "2 values are sealed under bbbbbbbb, which is no key of SECRETS_KEY",
    },
  ]);
  const all = judgeSecretKeys({ ids: ["aaaaaaaa", "bbbbbbbb"], counts, open: [] });
  expect(all).toEqual({
    faults: [],
    well: "5 sealed values, each with a key of the ring; `tracker secrets rotate` ends the use of older keys",
  });
});

test("where the keys are not given, nobody knows whether they are missing (N9)", () => {
  const { faults } = judgeSecretKeys({ ids: [], counts, open: [] });
  expect(faults).toMatchObject([{ weight: "warns" }]);
});

test("a file of keys that others can read refuses (N9)", () => {
  const { faults } = judgeSecretKeys({ ids: ["aaaaaaaa"], counts: new Map(), open: ["/etc/key"] });
  expect(faults).toMatchObject([{ weight: "refuses" }]);
  expect(faults[0]?.sentence).toContain("`chmod 600 /etc/key`");
});
