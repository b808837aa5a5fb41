import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { buildOpenApi } from "../../../api/docs/openapi/openapi.ts";
import {
  type CodeSample,
  codeSamples,
  sampleCallOf,
} from "../../../api/docs/reference/code-samples.ts";
import { operationsOf } from "../../../api/docs/reference/described-operation.ts";
import { operations } from "../../../api/operations.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "./api-world.ts";

type Language = CodeSample["language"];

const PROGRAMS: Readonly<Record<Language, readonly [file: string, program: string]>> = {
  sh: ["sample.sh", "sh"],
  ts: ["sample.mjs", process.execPath],
  python: ["sample.py", "python3"],
};

const world = await forThisFile(ApiWorld.open());
const baseUrl = `${world.origin}/api/v1`;
const described = operationsOf(buildOpenApi({ operations, baseUrl }));
/** The answers of all operations. */
const OUTPUT_BYTES_MAX = 16 * 1024 ** 2;
const hasRequests = spawnSync("python3", ["-c", "import requests"]).status === 0;
if (!hasRequests) process.stderr.write("Skipped: the samples for Python need python3-requests\n");
const Created = z.object({ data: z.object({ name: z.string() }) });

function sampleOf(id: string, language: Language): string {
  const operation = described.find((one) => one.id === id);
  const samples = operation === undefined ? [] : codeSamples(sampleCallOf(operation), baseUrl);
  return samples.find((sample) => sample.language === language)?.code ?? "";
}

/** Runs a sample as a reader would, with the key in the environment. Returns what it printed. */
async function run(code: string, language: Language): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tracker-sample-"));
  const [file, program] = PROGRAMS[language];
  const text = language === "ts" ? ts.transpile(code, { target: ts.ScriptTarget.ES2022 }) : code;
  try {
    await writeFile(join(folder, file), text);
    const env = { ...process.env, API_KEY: world.tenant.keys.admin };
    return (
      await promisify(execFile)(program, [join(folder, file)], { env, maxBuffer: OUTPUT_BYTES_MAX })
    ).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe.each([
  ["sh", true],
  ["ts", true],
  ["python", hasRequests],
] as const)("samples in %s", (language, isRunnable) => {
  // One creates a record with quotes, lists and nested objects, one has a query, one has neither, one is for any caller.
  test.skipIf(!isRunnable)("run as they stand, and print the answer of the service", async () => {
    const offer = Created.parse(JSON.parse(await run(renamed("createOffer", language), language)));
    expect(offer.data.name).toBe("Summer shoes");
    expect(JSON.parse(await run(sampleOf("listOffers", language), language))).toHaveProperty(
      "data",
    );
    expect(JSON.parse(await run(sampleOf("getMe", language), language))).toHaveProperty("data.key");
    const report = await run(sampleOf("getReport", language), language);
    expect(JSON.parse(report)).toMatchObject({ group_by: ["offer", "affiliate"] });
    expect(await run(sampleOf("getOpenApi", language), language)).toContain('"openapi":"3.1.0"');
    await world.patch("/workspace", { sign_up: "review" });
    const signUp = sampleOf("signUp", language).replace("/signup/acme/", "/signup/first/");
    expect(JSON.parse(await run(signUp, language))).toHaveProperty("data.application_id");
    expect(signUp).not.toContain("API_KEY");
  });
});

/** Each language creates its own offer, because a code is unique. */
function renamed(id: string, language: Language): string {
  return sampleOf(id, language).replace("SUMMER", `SUMMER${language.toUpperCase()}`);
}

test("every sample in TypeScript compiles", () => {
  const source = described.map(({ id }) => `async () => {\n${sampleOf(id, "ts")}\n};`).join("\n");
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  const { diagnostics } = ts.transpileModule(source, {
    compilerOptions: options,
    reportDiagnostics: true,
  });
  expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
});

test.skipIf(!hasRequests)("every sample in Python compiles", () => {
  const samples = described.map(({ id }) => sampleOf(id, "python"));
  const check = "import ast, json, sys\nfor sample in json.load(sys.stdin): ast.parse(sample)";
  const { stderr } = spawnSync("python3", ["-c", check], { input: JSON.stringify(samples) });
  expect(stderr.toString()).toBe("");
});
