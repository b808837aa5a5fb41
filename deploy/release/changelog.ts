export const CHANGELOG_HEAD =
  "# Changelog\n\nWritten by `npm run release` from the subjects of the commits, by what they are about.\n";

/** Commits about these change nothing for those who run the service. */
const OF_DEVELOPERS =
  /^(tests?|test\/.*|deep results|requirements|words|tidy|ci|style|bench|budget|knip|lint|storm|names?|wip.*|merge .*|lists?|plain words.*)$/i;
const SUBJECT = /^(?<area>[^:]{1,40}): (?<text>.+)$/;

/**
 * The section of a release. `subjects`: the subjects of its commits, the newest first; undefined for the first release, whose commits are the whole
 * history.
 */
export function releaseSection(
  version: string,
  date: string,
  subjects: readonly string[] | undefined,
): string {
  const lines = subjects === undefined ? ["The first release.", ""] : areaLines(subjects);
  return `\n## ${version}, ${date}\n\n${lines.join("\n")}`;
}

/** The changelog with the section of one more release at its top. */
export function withSection(changelog: string, section: string): string {
  const rest = changelog === "" ? "" : changelog.slice(CHANGELOG_HEAD.length);
  if (changelog !== "" && !changelog.startsWith(CHANGELOG_HEAD))
    throw new Error("deploy/CHANGELOG.md does not begin as `npm run release` writes it");
  return `${CHANGELOG_HEAD}${section}${rest}`;
}

function areaLines(subjects: readonly string[]): string[] {
  const areas = new Map<string, string[]>();
  for (const subject of subjects.toReversed()) {
    const { area = "Other", text = subject } = SUBJECT.exec(subject)?.groups ?? {};
    if (OF_DEVELOPERS.test(area) || /^(Merge|wip) /.test(subject)) continue;
    areas.set(area, [...(areas.get(area) ?? []), `- ${text}`]);
  }
  if (areas.size === 0) return ["Nothing that is seen from outside.", ""];
  return [...areas]
    .toSorted(([one], [other]) => one.localeCompare(other, "en"))
    .flatMap(([area, texts]) => [`### ${area}`, "", ...texts, ""]);
}
