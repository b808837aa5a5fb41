/**
 * Whether two e-mails are one address, where case does not matter. Only letters of ASCII have a case here: some other letters, such as the
 * Kelvin sign, become one of them in lower case, and their mailbox is somebody else's.
 */
export function isSameEmail(one: string, other: string): boolean {
  return lowerAscii(one) === lowerAscii(other);
}

function lowerAscii(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
