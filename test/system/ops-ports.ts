import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const Ports = z.record(z.string(), z.int());

/** Operations ports that `npm start` gave to its processes, running or not, by their names: `ingress-0`, `processors`, `api`. */
export async function opsPortsOf({
  dataDir,
}: {
  readonly dataDir: string;
}): Promise<ReadonlyMap<string, number>> {
  const kept = Ports.parse(JSON.parse(await readFile(join(dataDir, "ports.json"), "utf8")));
  return new Map(
    Object.entries(kept).flatMap(([name, port]): [string, number][] =>
      name.endsWith("-ops") ? [[name.replace(/-ops$/, ""), port]] : [],
    ),
  );
}
