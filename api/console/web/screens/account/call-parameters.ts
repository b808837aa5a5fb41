/** Parameters that somebody typed, one a line, or pasted as a whole address. The service adds token and test itself. */
export function parametersIn(text: string): Record<string, string> {
  const [, query = text] = /^[^\n?=]*\?(.*)$/s.exec(text.trim()) ?? [];
  const pairs = query
    .split(/[\n&]/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .flatMap((line) => [...new URLSearchParams(line)])
    .map(([name, value]) => [name.trim(), value.trim()] as const)
    .filter(([name, value]) => value !== "" && name !== "token" && name !== "test");
  return Object.fromEntries(pairs);
}
