/** The rows with two of them in each other's place; the same rows if one of the places does not exist. */
export function swapped<Row>(rows: readonly Row[], index: number, other: number): readonly Row[] {
  const [one, two] = [rows[index], rows[other]];
  return one === undefined || two === undefined ? rows : rows.with(index, two).with(other, one);
}
