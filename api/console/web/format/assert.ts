/** What `node:assert` is in a browser: the same rule for the modules of schemas/ that run in both. */
export default function assert(value: unknown, message?: string): asserts value {
  if (!value) throw new Error(message ?? "an invariant does not hold");
}
