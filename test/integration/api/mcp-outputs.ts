import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { z } from "zod";
import type { McpCaller, ToolAnswer } from "./mcp-caller.ts";

const Listed = z.looseObject({
  tools: z.array(
    z.looseObject({ name: z.string(), outputSchema: z.record(z.string(), z.unknown()) }),
  ),
});

/** What `outputSchema` of `tools/list` says of an answer, for one key. */
export class McpOutputs {
  readonly #validators: ReadonlyMap<string, ValidateFunction>;

  private constructor(validators: ReadonlyMap<string, ValidateFunction>) {
    this.#validators = validators;
  }

  static async of(caller: McpCaller): Promise<McpOutputs> {
    const { tools } = Listed.parse(await caller.result("tools/list"));
    const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
    formats.default(ajv);
    return new McpOutputs(
      new Map(tools.map(({ name, outputSchema }) => [name, ajv.compile(outputSchema)])),
    );
  }

  /** Each place where an answer differs from the schema of its tool. Refusals have no `structuredContent`, so nothing is checked. */
  faults(name: string, { isError, body }: ToolAnswer): readonly string[] {
    const validate = this.#validators.get(name);
    if (validate === undefined) return [`${name} is not listed`];
    if (isError || validate(body)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message }) => `${name}${instancePath}: ${message ?? "?"}`,
    );
  }
}
