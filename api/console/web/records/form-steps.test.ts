import { expect, test } from "vitest";
import { type FormStep, faultsIn } from "./form-steps.ts";

const STEP: FormStep = {
  name: "money",
  title: "Money",
  fields: [
    { name: "payout", label: "Payout", required: true },
    { name: "note", label: "Note" },
    {
      name: "events",
      label: "Events",
      kind: "rows",
      fields: [{ name: "code", label: "Code" }],
    },
    { name: "caps", label: "Caps", kind: "group", fields: [{ name: "daily", label: "Day" }] },
  ],
};

test("a step counts the faults of its fields, of its rows and of its groups, and no others", () => {
  const draft = { payout: "1", events: [{ code: "a" }], caps: { daily: "x" } };
  const faults = {
    payout: "wrong",
    "events[0].code": "taken",
    "events[0].payout": "wrong",
    "caps.daily": "wrong",
    caps: "wrong",
    code: "taken",
    payout_type: "wrong",
  };
  expect(faultsIn(STEP, draft, faults)).toBe(5);
  expect(faultsIn(STEP, draft, {})).toBe(0);
});
