import { straightened } from "./request/pasted-link.ts";
import type { HeaderLines } from "./request/request-head.ts";

/** What handlers read of a request of the native server. */
export type AskedRequest = HeaderLines & {
  getMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
};

type Route<Handler> = { readonly segments: readonly string[]; readonly handler: Handler };

/** Finds the handler of a request whose path was changed while its link was copied, and which therefore has no route (G241). */
export class StrayRequests<Handler> {
  readonly #byMethod = new Map<string, Route<Handler>[]>();

  /** `method` "" stands for every method without a handler of its own. */
  add(method: string, pattern: string, handler: Handler): void {
    const routes = this.#byMethod.get(method) ?? [];
    routes.push({ segments: pattern.split("/"), handler });
    this.#byMethod.set(method, routes);
  }

  find(request: AskedRequest): { handler: Handler; asked: AskedRequest } | undefined {
    const straight = straightened({ path: request.getUrl(), query: request.getQuery() ?? "" });
    if (straight === undefined) return undefined;
    const segments = straight.path.split("/");
    const handler =
      this.#handlerOf(request.getMethod().toUpperCase(), segments) ?? this.#handlerOf("", segments);
    if (handler === undefined) return undefined;
    return {
      handler,
      asked: {
        getMethod: () => request.getMethod(),
        getUrl: () => straight.path,
        getQuery: () => straight.query,
        forEach: (each) => request.forEach(each),
      },
    };
  }

  #handlerOf(method: string, segments: readonly string[]): Handler | undefined {
    return this.#byMethod.get(method)?.find((route) => matches(route.segments, segments))?.handler;
  }
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, at) => part.startsWith(":") || part === segments[at])
  );
}
