import { expect, test } from "vitest";
import { changedBody, draftOf, faultOf, leafPaths, missingFaults } from "./form-draft.ts";
import type { FormField } from "./form-field.ts";

const CONDITIONS: FormField = {
  name: "conditions",
  label: "Conditions",
  kind: "group",
  isSparse: true,
  fields: [
    { name: "countries", label: "Countries", kind: "list" },
    { name: "offer_ids", label: "Offers", kind: "records" },
    { name: "sub", label: "Sub IDs", kind: "lists" },
    { name: "max_seconds", label: "Seconds", kind: "number" },
    { name: "min_sale_amount", label: "Sale from" },
  ],
};
const RULES: FormField = {
  name: "rules",
  label: "Rules",
  kind: "rows",
  fields: [
    { name: "name", label: "Name" },
    {
      name: "offers",
      label: "Offers",
      kind: "rows",
      fields: [
        { name: "offer_id", label: "Offer", kind: "record" },
        { name: "weight", label: "Weight", kind: "number" },
      ],
    },
  ],
};
const FIELDS: readonly FormField[] = [
  { name: "name", label: "Name" },
  { name: "starts_at", label: "Starts", kind: "time" },
  { name: "hold_days", label: "Days", kind: "number", isNullable: true },
  CONDITIONS,
  RULES,
];
const RECORD = {
  name: "One",
  starts_at: "2026-11-25T10:00:00.000Z",
  hold_days: 0.5,
  conditions: { countries: ["DE", "AT"], min_sale_amount: "0.1000", newer: { a: 1 } },
  rules: [{ name: "", offers: [{ offer_id: 7, weight: 1 }] }],
};

function edited(change: object): object {
  const before = draftOf(FIELDS, RECORD);
  return changedBody(FIELDS, { ...before, ...change }, before);
}

test("nothing is sent for a record that was not changed", () => {
  expect(edited({})).toEqual({});
});

test("a changed condition sends all that are not empty, and names that the form does not know", () => {
  const conditions = draftOf(FIELDS, RECORD)["conditions"];
  expect(typeof conditions).toBe("object");
  const changed = {
    ...RECORD.conditions,
    countries: "DE",
    offer_ids: ["3", "4"],
    sub: [{ name: "sub1", text: "a, b" }],
    max_seconds: "",
  };
  expect(edited({ conditions: changed })).toEqual({
    conditions: {
      countries: ["DE"],
      offer_ids: [3, 4],
      sub: { sub1: ["a", "b"] },
      // Money stays the text that it was.
      min_sale_amount: "0.1000",
      newer: { a: 1 },
    },
  });
});

test("rows keep their order, and a text that is no number is sent for the API to judge", () => {
  const rules = [
    { name: "DE", offers: [{ offer_id: "9", weight: "many" }] },
    { name: "", offers: [{ offer_id: "", weight: "1" }] },
  ];
  expect(edited({ rules })).toEqual({
    rules: [
      { name: "DE", offers: [{ offer_id: 9, weight: "many" }] },
      { name: "", offers: [{ offer_id: "", weight: 1 }] },
    ],
  });
});

test("an emptied time or number that may be unset is sent as null, and a time as an instant in UTC", () => {
  expect(edited({ starts_at: "", hold_days: "" })).toEqual({ starts_at: null, hold_days: null });
  expect(edited({ starts_at: "2027-01-01T00:00" })).toEqual({
    starts_at: "2027-01-01T00:00:00.000Z",
  });
});

test("each leaf has the path by which the API names its fault", () => {
  const paths = leafPaths(FIELDS, draftOf(FIELDS, RECORD));
  expect(paths).toContain("rules[0].offers[0].offer_id");
  expect(paths).toContain("conditions.countries");
  const faults = { "conditions.countries[1]": "expected a country" };
  expect(faultOf(faults, "conditions.countries")).toBe("Enter a country");
  expect(faultOf(faults, "conditions.sub")).toBeUndefined();
});

test("every needed field that is empty has its own words, and what may stay empty has none (D12)", () => {
  const load = { name: "none", load: async () => await Promise.reject(new Error("not asked")) };
  const fields: readonly FormField[] = [
    { name: "name", label: "Name", required: true },
    { name: "advertiser_id", label: "Advertiser", kind: "record", load },
    { name: "offer_id", label: "Offer", kind: "record", load, isNullable: true },
    { name: "event", label: "Event", required: true, choices: [] },
    { name: "note", label: "Note", kind: "area" },
    {
      name: "targets",
      label: "Targets",
      kind: "rows",
      fields: [{ name: "offer_id", label: "Offer", kind: "record", load }],
    },
  ];
  const draft = { ...draftOf(fields, {}), targets: [{ offer_id: "1" }, { offer_id: "" }] };
  expect(missingFaults(fields, draft)).toEqual({
    name: "Enter the name",
    advertiser_id: "Choose the advertiser",
    event: "Choose the event",
    "targets[1].offer_id": "Choose the offer",
  });
  expect(missingFaults(fields.slice(0, 2), { name: "A", advertiser_id: "7" })).toEqual({});
});

test("a sparse row leaves out what is empty, another row sends it", () => {
  const rows = (isSparse: boolean): FormField => ({
    name: "events",
    label: "Events",
    kind: "rows",
    row: { noun: "event", initial: {}, isSparse },
    fields: [
      { name: "code", label: "Code" },
      { name: "name", label: "Name" },
    ],
  });
  const draft = { events: [{ code: "signup", name: "" }] };
  expect(changedBody([rows(true)], draft, {})).toEqual({ events: [{ code: "signup" }] });
  expect(changedBody([rows(false)], draft, {})).toEqual({ events: [{ code: "signup", name: "" }] });
});
