import { type IpGroups, isIpv4, parseIp } from "./address.ts";

type Range = { readonly from: IpGroups; readonly to: IpGroups };

/** A set of addresses. An IPv4 address and its IPv6 form (`::ffff:a.b.c.d`) are one. */
export type IpRanges = {
  readonly contains: (ip: string) => boolean;
  readonly isEmpty: boolean;
};

/** Whether a list of a user may contain it: an IPv4 or IPv6 address or CIDR (G07). */
export function isAddressOrCidr(text: string): boolean {
  // For an IPv4 address in its IPv6 form, it is unclear which form /24 refers to.
  const isAmbiguous = /^::ffff:[\d.]+\//i.test(text);
  return !/[\s-]/.test(text) && !isAmbiguous && parseRange(text) !== undefined;
}

/** @throws {RangeError} naming every item that {@link parseIpRanges} would leave out. */
export function ipRangesOf(list: readonly string[]): IpRanges {
  const { unreadable, ...ranges } = parseIpRanges(list);
  if (unreadable.length === 0) return ranges;
  throw new RangeError(`neither an address nor a CIDR: ${unreadable.join(", ")}`);
}

/** Reads addresses, CIDRs and `from-to` ranges of both families. Other items are left out and listed in `unreadable`. */
export function parseIpRanges(
  list: readonly string[],
): IpRanges & { readonly unreadable: readonly string[] } {
  const ranges: Range[] = [];
  const unreadable: string[] = [];
  for (const item of list) {
    const range = parseRange(item.trim());
    if (range === undefined) unreadable.push(item);
    else ranges.push(range);
  }
  return {
    isEmpty: ranges.length === 0,
    unreadable,
    contains: (ip) => {
      if (ranges.length === 0) return false;
      const groups = parseIp(ip);
      return (
        groups !== undefined &&
        ranges.some(({ from, to }) => compare(groups, from) >= 0 && compare(groups, to) <= 0)
      );
    },
  };
}

function parseRange(text: string): Range | undefined {
  const dash = text.indexOf("-");
  if (dash >= 0) return parseFromTo(text.slice(0, dash), text.slice(dash + 1));
  const [address = "", length, ...rest] = text.split("/");
  const groups = parseIp(address);
  if (groups === undefined || rest.length > 0) return undefined;
  if (length === undefined) return { from: groups, to: groups };
  if (!/^\d{1,3}$/.test(length)) return undefined;
  // An IPv4 CIDR becomes a CIDR of the mapped IPv6 form.
  const bits = Number(length) + (address.includes(":") ? 0 : 96);
  // A network with less than the whole prefix of an IPv4 address in its IPv6 form would hold all of IPv4.
  return bits > 128 || (isIpv4(groups) && bits < 96) ? undefined : cidr(groups, bits);
}

/** Both bounds must be of one family, in ascending order. */
function parseFromTo(first: string, last: string): Range | undefined {
  const [from, to] = [parseIp(first.trim()), parseIp(last.trim())];
  if (from === undefined || to === undefined || isIpv4(from) !== isIpv4(to)) return undefined;
  return compare(from, to) > 0 ? undefined : { from, to };
}

function cidr(groups: IpGroups, bits: number): Range {
  const masks = groups.map((_, i) => {
    const kept = Math.min(16, Math.max(0, bits - i * 16));
    return (0xffff << (16 - kept)) & 0xffff;
  });
  return {
    from: groups.map((group, i) => group & (masks[i] ?? 0)),
    to: groups.map((group, i) => (group & (masks[i] ?? 0)) | (~(masks[i] ?? 0) & 0xffff)),
  };
}

function compare(a: IpGroups, b: IpGroups): number {
  for (let i = 0; i < a.length; i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
