export type Severity = "error" | "warning" | "info";

type Code = { readonly severity: Severity; readonly message: string; readonly hint?: string };

const PUT_LPURL_LAST = "end the template with url={lpurl}";

/**
 * Every code of the linter in the order of issues (G168), with its severity unless a rule overrides it (T53). The codes are stable,
 * the texts are not.
 */
export const LINT_CODES = {
  empty: { severity: "error", message: "the template is empty" },
  length_over_2048: { severity: "error", message: "longer than 2048 characters" },
  space_or_control_char: {
    severity: "error",
    message: "contains a space or a control character",
    hint: "write a space as %20",
  },
  stray_brace: { severity: "error", message: "an unmatched brace, or nested tags" },
  ignore_in_template: { severity: "error", message: "{ignore} is allowed in final URLs only" },
  non_https: { severity: "error", message: "the tracker is not an https address" },
  templated_host: { severity: "error", message: "the host of the tracker contains a tag" },
  ip_host: { severity: "error", message: "the host of the tracker is an IP address" },
  unknown_host: {
    severity: "error",
    message: "the host of the tracker is not an active tracking domain of the workspace",
  },
  non_click_path: {
    severity: "error",
    message: "the path of the tracker is not a click path",
    hint: "use /c/<link key>",
  },
  missing_lpurl: { severity: "error", message: "{lpurl} is missing", hint: PUT_LPURL_LAST },
  lpurl_not_in_url_param: {
    severity: "error",
    message: "the landing page is outside of url=",
    hint: PUT_LPURL_LAST,
  },
  static_url_param: {
    severity: "error",
    message: "url= contains fixed text: every ad would lead to the same page",
    hint: PUT_LPURL_LAST,
  },
  duplicate_url_param: { severity: "error", message: "several url= parameters" },
  text_joined_to_lpurl: {
    severity: "error",
    message: "text directly before or after the landing page in url=",
    hint: "put further parameters of the page into the final URL suffix",
  },
  final_url_invalid: { severity: "error", message: "the final URL is not an absolute http(s) URL" },
  final_url_on_tracker_domain: {
    severity: "error",
    message: "the final URL is on a tracking domain",
    hint: "use the address of the landing page itself",
  },
  final_url_has_lpurl: { severity: "error", message: "the final URL contains {lpurl}" },
  suffix_leading_separator: {
    severity: "error",
    message: "the suffix begins with ?, & or #",
    hint: "the ad platform adds the separator",
  },
  suffix_has_lpurl: { severity: "error", message: "the suffix contains {lpurl}" },
  suffix_has_ignore: { severity: "error", message: "the suffix contains {ignore}" },
  unknown_tag: { severity: "error", message: "a tag that the ad platform does not fill in" },
  host_not_certified: {
    severity: "error",
    message: "the tracking domain is not certified with the ad platform",
  },
  lpurl_not_last: {
    severity: "warning",
    message: "parameters follow url=",
    hint: PUT_LPURL_LAST,
  },
  unexpected_path: {
    severity: "warning",
    message: "the path of the tracker is none of /c/, /r/, /s/ and /click",
  },
  force_transparent_after_url: {
    severity: "warning",
    message: "force_transparent follows url=",
    hint: "leave it out: url= is enough",
  },
  fragment_in_tracker: { severity: "warning", message: "what follows # never reaches the tracker" },
  duplicate_param: { severity: "warning", message: "a parameter occurs twice; the first counts" },
  missing_gclid: {
    severity: "warning",
    message: "no {gclid}: clicks cannot be reported to the ad platform",
    hint: "add gclid={gclid}",
  },
  missing_msclkid: {
    severity: "warning",
    message: "no {msclkid}: clicks cannot be reported to the ad platform",
    hint: "add msclkid={msclkid}",
  },
  final_url_has_fragment: { severity: "warning", message: "the final URL contains a #" },
  final_url_not_https: { severity: "warning", message: "the final URL is not https" },
  suffix_has_url_param: { severity: "warning", message: "the suffix contains a url= parameter" },
  too_many_custom_parameters: {
    severity: "warning",
    message: "more custom parameters than the ad platform fills in",
  },
  not_a_click_tracker: {
    severity: "info",
    message: "the template begins with the landing page: no tracker is called",
  },
} as const satisfies Record<string, Code>;

export type LintCode = keyof typeof LINT_CODES;

export type LintIssue = {
  readonly code: LintCode;
  readonly severity: Severity;
  readonly message: string;
  readonly hint?: string | undefined;
};

type Finding = { readonly severity?: Severity | undefined; readonly names?: readonly string[] };

const NAMES_MAX = 5;
const NAME_LENGTH_MAX = 60;
const ORDER = Object.keys(LINT_CODES);

/** The issues of one part: each code once, read in the order of issues (G168). */
export class LintFindings {
  readonly #issues = new Map<LintCode, LintIssue>();

  /** `names` are the subjects of the message, such as tags. */
  add(isFound: boolean, code: LintCode, { severity, names = [] }: Finding = {}): void {
    if (!isFound) return;
    const known: Code = LINT_CODES[code];
    const shown = names.slice(0, NAMES_MAX).map((name) => name.slice(0, NAME_LENGTH_MAX));
    const list = shown.length === 0 ? "" : `: ${shown.join(", ")}`;
    this.#issues.set(code, {
      code,
      severity: severity ?? known.severity,
      message: `${known.message}${list}`,
      hint: known.hint,
    });
  }

  get issues(): LintIssue[] {
    return [...this.#issues.values()].toSorted(
      (a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code),
    );
  }
}

export function hasError(issues: readonly LintIssue[]): boolean {
  return issues.some(({ severity }) => severity === "error");
}
