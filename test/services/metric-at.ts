/** The value of a series, such as `catalog_version` or `clicks_lost_total{reason="declared"}`; NaN if it is absent. */
export function metricIn(text: string, series: string): number {
  const line = text.split("\n").find((one) => one.startsWith(`tracker_${series} `));
  return Number(line?.split(" ")[1] ?? Number.NaN);
}

/** The same of the process with this operations port. */
export async function metricAt(opsPort: number, series: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/metrics`);
  return metricIn(await answer.text(), series);
}
