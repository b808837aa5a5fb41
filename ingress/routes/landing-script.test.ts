import { expect, test } from "vitest";
import { aRequest } from "../../test/samples/a-request.ts";
import { landingScriptRoute, servedScript } from "./landing-script.ts";

const route = landingScriptRoute({ text: "void 0;", etag: '"abc"' });

async function ask(ifNoneMatch: string): Promise<number> {
  const request = aRequest({ headers: { ifNoneMatch } });
  const result = await route.route(request, new Uint8Array(0), new AbortController().signal);
  expect(result.answer.headers).toContainEqual(["ETag", '"abc"']);
  expect(result.answer.headers).toContainEqual(["Cache-Control", "public, max-age=3600"]);
  expect(result.answer.headers).toContainEqual(["Access-Control-Allow-Origin", "*"]);
  expect(result.answer.body).toBe(result.answer.status === 304 ? "" : "void 0;");
  return result.answer.status;
}

test("a client with this release gets 304, all others get the script (SDK-001, G164)", async () => {
  for (const known of ['"abc"', 'W/"abc"', '"x", "abc"', "*"]) expect(await ask(known)).toBe(304);
  for (const other of ["", '"abd"', "abc", 'W/"x"']) expect(await ask(other)).toBe(200);
});

test("the script is served without comments and indentation, and otherwise as it is written", () => {
  const source =
    '/*\n * A.\n */\n(function () {\n  // B.\n  var a = "/* c */ // d";\n\n  /** E. */\n  b(a); // f\n})();\n';
  expect(servedScript(source)).toBe('(function () {\nvar a = "/* c */ // d";\nb(a); // f\n})();\n');
});
