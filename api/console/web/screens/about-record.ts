/** Whether an entry of the audit log is about the record with this address, or about a part of it. */
export function isAbout(action: string, path: string): boolean {
  const [, rest] = action.split(path);
  return rest !== undefined && !/^[\d-]/.test(rest);
}
