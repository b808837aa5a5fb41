/** Something a person can put right: the message says what, and is all that is shown. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** The command was written wrongly: the usage is shown beside the message. */
export class UsageError extends CommandError {}
