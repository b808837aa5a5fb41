/** The page with `table` between its two marks. @throws {Error} when they are missing. */
export function withTable(page: string, name: string, table: readonly string[]): string {
  const marks = new RegExp(`(<!-- ${name}: [^\\n]*-->\\n)[\\s\\S]*(<!-- end of ${name} -->)`);
  if (!marks.test(page)) throw new Error(`a page has lost the marks around its ${name}`);
  return page.replace(
    marks,
    (_, begin: string, end: string) => `${begin}${table.join("\n")}\n${end}`,
  );
}
