import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clientDocument, clientOperations } from "./docs/clients/client-document.ts";
import { pythonMethods, pythonSchemas } from "./docs/clients/python-methods.ts";
import { buildOpenApi } from "./docs/openapi/openapi.ts";
import { operations } from "./operations.ts";

/*
 * Writes into the folder of its argument what the generators of both clients read, and the parts of the clients that they do not write.
 * api/docs/clients/pack.sh runs it.
 */
const [folder = "."] = process.argv.slice(2);
const document = clientDocument(buildOpenApi({ operations, baseUrl: "/api/v1" }));
const table = clientOperations(document).map(({ name, method, path }) => [name, [method, path]]);

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
writeFileSync(join(folder, "python-schemas.json"), JSON.stringify(pythonSchemas(document)));
writeFileSync(join(folder, "tracker.py"), pythonMethods(document));
writeFileSync(
  join(folder, "entry.ts"),
  `import { buildTracker, type TrackerOf } from "./build-tracker.ts";
import { OPERATIONS } from "./operations.ts";
import type { components, operations } from "./schema.ts";
import { TrackerError as ErrorOf } from "./tracker-error.ts";
import type { TrackerOptions } from "./transport.ts";

export type Schemas = components["schemas"];
export type ErrorCode = Schemas["Error"]["error"]["code"];
export type Tracker = TrackerOf<operations>;
export type { TrackerOptions } from "./transport.ts";
export type { ErrorDetails } from "./tracker-error.ts";
/** A refusal of the service: \`code\` is stable, \`requestId\` names the request in its log. */
export type TrackerError = ErrorOf<ErrorCode>;

/** The API of one installation, with the rights of one key. */
export function createTracker(options: TrackerOptions): Tracker {
  return buildTracker<operations>(OPERATIONS, options);
}

/** Whether an error is a refusal of the service, and of this code if one is given. */
export function isTrackerError(error: unknown, code?: ErrorCode): error is TrackerError {
  return error instanceof ErrorOf && (code === undefined || error.code === code);
}
`,
);
writeFileSync(
  join(folder, "operations.ts"),
  `/** Generated from the OpenAPI document: method and path of each operation. */
export const OPERATIONS: Readonly<Record<string, readonly [method: string, path: string]>> =
  ${JSON.stringify(Object.fromEntries(table), undefined, 2)};
`,
);
