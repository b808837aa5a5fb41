import { expect, test } from "vitest";
import { Interruption, stepNeededBy } from "./interruption.ts";

function opened(): Interruption {
  const interruption = new Interruption();
  interruption.subscribe(() => undefined);
  return interruption;
}

test("all requests that are refused wait for one answer of the person", async () => {
  const interruption = opened();
  const asked = [interruption.ask("sign-in"), interruption.ask("sign-in")];
  expect(interruption.step).toBe("sign-in");
  interruption.finish(true);
  expect(await Promise.all(asked)).toEqual([true, true]);
  expect(interruption.step).toBeUndefined();
});

test("a sign-in is also a proof, but a proof is no sign-in", async () => {
  const interruption = opened();
  const proof = interruption.ask("prove");
  const signIn = interruption.ask("sign-in");
  interruption.finish(true);
  expect(await proof).toBe(true);
  await expect.poll(() => interruption.step).toBe("sign-in");
  const other = interruption.ask("prove");
  interruption.finish(true);
  expect(await Promise.all([signIn, other])).toEqual([true, true]);
});

test("nobody waits for a question that no screen shows", async () => {
  const interruption = new Interruption();
  expect(await interruption.ask("prove")).toBe(false);
  const close = interruption.subscribe(() => undefined);
  const asked = interruption.ask("prove");
  close();
  expect(await asked).toBe(false);
});

const REFUSED = JSON.stringify({ error: { code: "fresh_sign_in_required", message: "" } });

test.each([
  ["/api/v1/offers", 401, "{}", "sign-in"],
  ["/api/v1/sign-in", 401, "{}", undefined],
  ["/api/v1/sign-in/prove", 403, "{}", undefined],
  ["/api/v1/keys", 403, REFUSED, "prove"],
  ["/api/v1/keys", 403, "{}", undefined],
  ["/api/v1/keys", 200, "{}", undefined],
])("a request of %s that is answered %i %s needs %s", async (path, status, body, step) => {
  const request = new Request(`https://tracker.example${path}`);
  expect(await stepNeededBy(request, new Response(body, { status }))).toBe(step);
});
