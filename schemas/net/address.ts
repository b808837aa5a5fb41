const GROUPS = 8;
const BYTE = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^${BYTE}\\.${BYTE}\\.${BYTE}\\.${BYTE}$`);
const IPV4_LENGTH_MAX = 15;
const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0xffff];

/** Eight 16-bit groups; an IPv4 address is its mapped form, ::ffff:a.b.c.d. */
export type IpGroups = readonly number[];

/** The four bytes of a dotted IPv4 address as one unsigned number; -1 for anything else, leading zeros included. */
export function parseIpv4(text: string): number {
  const bytes = text.length <= IPV4_LENGTH_MAX ? IPV4.exec(text) : null;
  if (bytes === null) return -1;
  const [, a, b, c, d] = bytes;
  return Number(a) * 0x1_00_00_00 + Number(b) * 0x1_00_00 + Number(c) * 0x1_00 + Number(d);
}

/** Undefined for a text that is not an address. An address has no zone (`%eth0`). */
export function parseIp(text: string): IpGroups | undefined {
  const v4 = parseIpv4(text);
  if (v4 >= 0) return [...MAPPED_PREFIX, Math.floor(v4 / 65_536), v4 % 65_536];
  if (text.length > 45 || !text.includes(":")) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = readGroups(halves[0] ?? "", halves.length === 1);
  const tail = halves.length === 2 ? readGroups(halves[1] ?? "", true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = GROUPS - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

/** Dotted for IPv4, mapped or not; else the shortest lower-case form of RFC 5952. */
export function formatIp(groups: IpGroups): string {
  if (isIpv4(groups)) {
    const [high = 0, low = 0] = groups.slice(6);
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  const { start, length } = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(":");
  return `${hex.slice(0, start).join(":")}::${hex.slice(start + length).join(":")}`;
}

export function isIpv4(groups: IpGroups): boolean {
  return MAPPED_PREFIX.every((group, i) => groups[i] === group);
}

/** The canonical spelling of an address for storage and comparison ({@link formatIp}). "" if the text is not an address. */
export function normalIp(text: string): string {
  if (parseIpv4(text) >= 0) return text;
  const groups = parseIp(text);
  return groups === undefined ? "" : formatIp(groups);
}

/** Whether the host of a parsed URL (`new URL(…).hostname`) is an address. */
export function isIpHost(hostname: string): boolean {
  return hostname.startsWith("[") || parseIpv4(hostname) >= 0;
}

function readGroups(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [i, part] of parts.entries()) {
    if (mayEndInIpv4 && i === parts.length - 1 && part.includes(".")) {
      const v4 = parseIpv4(part);
      if (v4 < 0) return undefined;
      groups.push(Math.floor(v4 / 65_536), v4 % 65_536);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else {
      return undefined;
    }
  }
  return groups.length > GROUPS ? undefined : groups;
}

function longestZeroRun(groups: IpGroups): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let i = 0; i <= GROUPS; i += 1) {
    if (i < GROUPS && groups[i] === 0) continue;
    if (i - start > best.length) best = { start, length: i - start };
    start = i + 1;
  }
  return best;
}
