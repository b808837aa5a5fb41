import type { Operation } from "../operation/operation.ts";

/** The REST paths of a list of operations, for requests that no operation accepts. */
export class RestRoutes {
  readonly #paths: { readonly segments: readonly string[]; readonly methods: Set<string> }[] = [];

  /** Methods of the paths without parameters. */
  readonly #named = new Map<string, ReadonlySet<string>>();

  constructor(operations: readonly Pick<Operation, "method" | "path">[]) {
    for (const { method, path } of operations) {
      const segments = path.split("/");
      const known = this.#paths.find((other) => isSamePath(other.segments, segments));
      if (known === undefined) this.#paths.push({ segments, methods: new Set([method]) });
      else known.methods.add(method);
    }
    for (const { segments, methods } of this.#paths) {
      const path = segments.join("/");
      if (!path.includes("{")) this.#named.set(path, methods);
    }
  }

  /**
   * Whether a path without parameters has a name that another path has a parameter for, such as `/conversions/validate` beside
   * `/conversions/{id}`. Then only its own methods count.
   */
  isNamed(path: string): boolean {
    return this.#named.has(path);
  }

  /**
   * Methods that a path (below the base, without query) accepts, in the form of the Allow header; undefined for an unknown path.
   */
  allowed(path: string): string | undefined {
    const segments = path.split("/");
    const named = this.#named.get(path);
    const methods = new Set(
      named ??
        this.#paths
          .filter((route) => matches(route.segments, segments))
          .flatMap((route) => [...route.methods]),
    );
    if (methods.size === 0) return undefined;
    if (methods.has("GET")) methods.add("HEAD");
    return [...methods].sort().join(", ");
  }
}

function isSamePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((segment, index) => segment === b[index]);
}

function matches(route: readonly string[], segments: readonly string[]): boolean {
  return (
    route.length === segments.length &&
    route.every((part, index) =>
      part.startsWith("{") ? segments[index] !== "" : part === segments[index],
    )
  );
}
