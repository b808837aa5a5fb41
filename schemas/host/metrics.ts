type Labels = Readonly<Record<string, string>>;

/** One time series family of the Prometheus text format. */
type Family = {
  readonly help: string;
  readonly kind: "counter" | "gauge";
  readonly read: () => [Labels, number][];
};

const LABEL_ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", '"': '\\"' };

/** The instruments of a process, in the order of their declaration. Names are `<process>_<noun>_<unit|total>`. */
export class Metrics {
  readonly #families = new Map<string, Family>();

  /** A count that only rises. Labels have known, few values. */
  counter(name: string, help: string): Counter {
    const counter = new Counter();
    this.#declare(name, { help, kind: "counter", read: () => counter.read() });
    return counter;
  }

  /** A value read when asked for; absent, not zero, while `read` answers undefined. */
  gauge(name: string, help: string, read: () => number | undefined): void {
    this.#declare(name, {
      help,
      kind: "gauge",
      read: () => {
        const value = read();
        return value === undefined ? [] : [[{}, value]];
      },
    });
  }

  /** Values by label, read when asked for. */
  gauges(name: string, help: string, read: () => [Labels, number][]): void {
    this.#declare(name, { help, kind: "gauge", read });
  }

  /** The Prometheus text format. */
  render(): string {
    const lines: string[] = [];
    for (const [name, family] of this.#families) {
      lines.push(`# HELP ${name} ${family.help}`, `# TYPE ${name} ${family.kind}`);
      for (const [labels, value] of family.read())
        lines.push(`${name}${renderLabels(labels)} ${value}`);
    }
    return `${lines.join("\n")}\n`;
  }

  #declare(name: string, family: Family): void {
    if (this.#families.has(name)) throw new Error(`metric ${name} is declared twice`);
    this.#families.set(name, family);
  }
}

export class Counter {
  readonly #series = new Map<string, { labels: Labels; value: number }>();

  add(count = 1, labels: Labels = {}): void {
    this.series(labels).value += count;
  }

  /** One series of it, for what is counted with every request. */
  series(labels: Labels): { value: number } {
    const key = JSON.stringify(labels);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const series = { labels, value: 0 };
    this.#series.set(key, series);
    return series;
  }

  read(): [Labels, number][] {
    const all = [...this.#series.values()].map(({ labels, value }): [Labels, number] => [
      labels,
      value,
    ]);
    return all.length === 0 ? [[{}, 0]] : all;
  }
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${value.replace(/[\\\n"]/g, (found) => LABEL_ESCAPES[found] ?? found)}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
