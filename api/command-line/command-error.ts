/** Something a person can put right: the message says what, and is all that is shown. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** The command was written wrongly: how it is written is shown beside the message. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
  /** Undefined until it is known which command was meant. */
  readonly usage: string | undefined;

  constructor(
    message: string,
    options: { readonly cause?: unknown; readonly usage?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.usage = options.usage;
  }
}
