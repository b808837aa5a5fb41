import assert from "node:assert";
import type { Json } from "../../operation/json-object.ts";
import { buildOpenApiInTurns, type OpenApiOptions } from "./openapi.ts";

/** The OpenAPI document of this process. It is built once, at the first request that needs it: most processes are never asked. */
export class ServedOpenApi {
  readonly #options: OpenApiOptions;
  #building: Promise<Json> | undefined;
  #document: Json | undefined;

  constructor(options: OpenApiOptions) {
    this.#options = options;
  }

  async prepare(): Promise<void> {
    this.#document = await (this.#building ??= buildOpenApiInTurns(this.#options));
  }

  /** @throws before `prepare` has ended. */
  get document(): Json {
    assert(this.#document !== undefined, "the OpenAPI document is not prepared yet");
    return this.#document;
  }
}
