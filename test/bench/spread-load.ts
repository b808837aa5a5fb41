import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BenchLink } from "./catalog-fill.ts";
import { type LoadFigures, scriptedLoad } from "./load-tools.ts";
import { headersOf } from "./request-texts.ts";
import type { BenchVisitor } from "./visitors.ts";

export type SpreadLoad = {
  /** The highest rate that the server answers, cycling through all links and visitors. */
  readonly run: (serverUrl: string, seconds: number) => Promise<LoadFigures>;
};

/** Writes the script with which wrk requests these links, each time as the next visitor, to `folder`. */
export async function prepareSpreadLoad(
  folder: string,
  { name, links, visitors }: SpreadOptions,
): Promise<SpreadLoad> {
  if (links.length === 0) throw new Error(`${name}: no links to put load on`);
  const script = join(folder, `${name}.lua`);
  await writeFile(join(folder, `${name}.paths`), lines(links.map(({ path }) => path)));
  const tables = visitors.map((visitor) =>
    Object.entries(headersOf(visitor))
      .map(([header, value]) => `[${luaText(header)}]=${luaText(value)}`)
      .join(","),
  );
  await writeFile(script, luaScript(join(folder, name), tables));
  return { run: (serverUrl, seconds) => scriptedLoad(serverUrl, seconds, script) };
}

type SpreadOptions = {
  readonly name: string;
  readonly links: readonly BenchLink[];
  readonly visitors: readonly BenchVisitor[];
};

function lines(texts: readonly string[]): string {
  return `${texts.join("\n")}\n`;
}

/** Every byte but letters, digits and spaces as its number: the text may contain anything. */
function luaText(text: string): string {
  const bytes = Array.from(Buffer.from(text), (byte) =>
    /[\w ]/.test(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : `\\${String(byte).padStart(3, "0")}`,
  );
  return `"${bytes.join("")}"`;
}

/** The requests are made before the load begins. */
function luaScript(files: string, visitors: readonly string[]): string {
  return `local paths = {}
for line in io.lines("${files}.paths") do paths[#paths + 1] = line end
local visitors = {
${visitors.map((headers) => `{${headers}}`).join(",\n")}
}
local requests = {}
function init(args)
  for i = 1, math.max(#paths, #visitors) do
    local query = "?sub1=bench&sub2=" .. i .. "&source_id=a1&gclid=abc" .. i
    requests[i] = wrk.format("GET", paths[1 + i % #paths] .. query, visitors[1 + i % #visitors])
  end
end
local at = 0
function request()
  at = at % #requests + 1
  return requests[at]
end
`;
}
