/** A failure that a person can correct. Only its message is shown, so it must say what to do. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  /** Undefined for the usual code. */
  readonly exitCode: number | undefined;

  constructor(
    message: string,
    options: { readonly cause?: unknown; readonly exitCode?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode;
  }
}

/** Wrong usage. The usage of the command is shown with the message. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
  /** Undefined until the command is known. */
  readonly usage: string | undefined;

  constructor(
    message: string,
    options: { readonly cause?: unknown; readonly usage?: string } = {},
  ) {
    super(message, options);
    this.usage = options.usage;
  }
}
