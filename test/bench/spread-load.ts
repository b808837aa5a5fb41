import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BenchLink } from "./catalog-fill.ts";
import { type LoadFigures, scriptedLoad } from "./load-tools.ts";

export type SpreadLoad = {
  /** The highest rate that the server answers, cycling through all links. */
  readonly run: (serverUrl: string, seconds: number) => Promise<LoadFigures>;
};

/** Every twentieth visitor has an IPv6 address, so that the second city database is in memory too. */
const ADDRESSES_MADE = 10_000;

const USER_AGENTS = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
  "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
];

/** Writes the files that wrk needs to request these links, each time as another visitor, to `folder`. */
export async function prepareSpreadLoad(
  folder: string,
  name: string,
  links: readonly BenchLink[],
): Promise<SpreadLoad> {
  if (links.length === 0) throw new Error(`${name}: no links to put load on`);
  const script = join(folder, `${name}.lua`);
  await writeFile(join(folder, `${name}.paths`), lines(links.map(({ path }) => path)));
  await writeFile(join(folder, `${name}.ips`), lines(visitorAddresses()));
  await writeFile(script, luaScript(join(folder, name)));
  return { run: (serverUrl, seconds) => scriptedLoad(serverUrl, seconds, script) };
}

function lines(texts: readonly string[]): string {
  return `${texts.join("\n")}\n`;
}

/** Public addresses from all parts of the world, the same ones on each call. */
function visitorAddresses(): string[] {
  return Array.from({ length: ADDRESSES_MADE }, (_, i) => {
    const mixed = (i * 2_654_435_761) >>> 0;
    if (i % 20 === 0)
      return `2${(0x400 + (mixed % 0x600)).toString(16)}:${(mixed >>> 16).toString(16)}::1`;
    return `${1 + (mixed % 222)}.${(mixed >>> 8) % 256}.${(mixed >>> 16) % 256}.${mixed >>> 24}`;
  });
}

function luaScript(files: string): string {
  const agents = USER_AGENTS.map((text) => JSON.stringify(text)).join(",\n  ");
  return `local function read(path)
  local list = {}
  for line in io.lines(path) do list[#list + 1] = line end
  return list
end
local agents = {
  ${agents}
}
local requests = {}
function init(args)
  local paths, ips = read("${files}.paths"), read("${files}.ips")
  for i = 1, math.max(#paths, #ips) do
    requests[i] = wrk.format("GET", paths[1 + i % #paths] .. "?sub1=bench&sub2=" .. i .. "&source_id=a1&gclid=abc123", {
      ["User-Agent"] = agents[1 + i % #agents], ["X-Forwarded-For"] = ips[1 + i % #ips],
      ["Referer"] = "https://www.example.org/some/page", ["Accept-Language"] = "en-US,en;q=0.9" })
  end
end
local at = 0
function request()
  at = at % #requests + 1
  return requests[at]
end
`;
}
