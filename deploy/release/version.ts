/** Three whole numbers, as `major.minor.patch`. */
export type Version = readonly [major: number, minor: number, patch: number];

/** A commit that is released. */
export type Release = {
  readonly version: string;
  readonly commit: string;
  /** The date of the commit, ISO 8601. */
  readonly date: string;
};

/** Undefined for anything but three numbers; `v` may stand before them. */
export function parseVersion(text: string): Version | undefined {
  const match = /^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

export function versionText(version: Version): string {
  return version.join(".");
}

/** Negative if `one` is the older. */
export function compareVersions(one: Version, other: Version): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

/** The newest of these tags that is a version; undefined without one. */
export function newestVersion(tags: readonly string[]): Version | undefined {
  return tags
    .map(parseVersion)
    .filter((version) => version !== undefined)
    .toSorted(compareVersions)
    .at(-1);
}
