/** Longest code that a record may be given. */
export const CODE_LENGTH_MAX = 64;

/** Characters that stand in a URL as they are. */
export const CODE_FORM: RegExp = /^[A-Za-z0-9._~-]{1,64}$/;

/** Whether the text may be a code or alias. Browsers remove `.` and `..` from a path, so no link could have these. */
export function isCode(text: string): boolean {
  return CODE_FORM.test(text) && text !== "." && text !== "..";
}
