import { expect, test } from "vitest";
import { problemFrom } from "./problem.ts";

const problem = (status: number, error: object) =>
  problemFrom(new Response(null, { status, headers: { "x-request-id": "r1" } }), { error });

test("every fault is told by the path of its field", () => {
  const fields = { "events[0].payout": "expected an amount" };
  const { fields: told } = problem(400, { code: "validation_failed", details: { fields } });
  expect(told).toEqual(fields);
});

test("a conflict is told at the field that it names", () => {
  const { fields, code } = problem(409, {
    code: "conflict",
    message: "another offer has this code",
    details: { field: "code" },
  });
  expect([code, fields]).toEqual(["conflict", { code: "another offer has this code" }]);
});

test("an answer that is no error of the API is a failure of the service", () => {
  expect(problemFrom(new Response(null, { status: 502 }), "Bad gateway")).toMatchObject({
    code: "internal_error",
    status: 502,
    fields: {},
  });
});
