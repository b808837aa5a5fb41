import { readFileSync } from "node:fs";

/** A secret. If it is in a file, each call reads the file, which may thus be replaced while the process runs. */
export type Secret = () => string;

/** The file of a secret cannot be used. The message names the file and never its content. */
export class SecretFileError extends Error {
  override readonly name = "SecretFileError";
}

/** The content of a file without the newline at its end. @throws {SecretFileError} when it is unreadable or empty. */
export function readSecretFile(path: string): string {
  const text = contentOf(path).replace(/\r?\n$/, "");
  if (text === "") throw new SecretFileError(`${path} is empty`);
  return text;
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown fault";
    throw new SecretFileError(`${path} cannot be read (${code})`, { cause: error });
  }
}
