/**
 * A start that cannot go on. The message is a whole sentence for the person at the terminal: what is wrong and what to
 * do about it. Nothing else is printed for it, no stack.
 */
export class LaunchError extends Error {
  override readonly name = "LaunchError";
}
