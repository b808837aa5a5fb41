/** Why a whole file cannot be imported. People see only its message, so it must say what to do. */
export class FileFault extends Error {
  override readonly name = "FileFault";

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
