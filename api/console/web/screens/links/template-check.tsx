import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { faultWords } from "../../client/fault-words.ts";
import { formatCount } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { AreaField } from "../../parts/area-field.tsx";
import { ChoiceField } from "../../parts/choice-field.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { TextField } from "../../parts/text-field.tsx";
import type { CheckedTemplate } from "./made-link.tsx";

type Verdict = components["schemas"]["LintVerdict"];
type Issue = components["schemas"]["LintIssue"];
type Followed = components["schemas"]["TemplateTest"];
type Platform = "adplatform_a" | "adplatform_b";

const PLATFORMS = [
  ["adplatform_a", "Google Ads"],
  ["adplatform_b", "Microsoft Advertising"],
] as const satisfies readonly (readonly [Platform, string])[];

const ICONS = { error: CircleAlert, warning: TriangleAlert, info: Info } as const;
const SEVERITIES = { error: "Error", warning: "Warning", info: "Note" } as const;

const PROBLEMS: Readonly<Record<Followed["problems"][number], string>> = {
  unreachable: "No answer within 5 seconds",
  too_many_redirects: "More than 10 redirects",
  slow: "It takes more than a second",
  private_address: "It leads to an address that is not public, which is not followed",
  invalid_url: "The template or a redirect is no http or https address",
  error_status: "The landing page answers with an error",
  wrong_destination: "It ends on another page than the final URL",
};

/** Reads a tracking template by the rules of its ad platform, and follows it to the landing page. Nothing is stored. */
export function TemplateCheck({
  value,
  onChange,
}: {
  readonly value: CheckedTemplate;
  readonly onChange: (value: CheckedTemplate) => void;
}): ReactElement {
  const { api } = useMembership();
  const [finalUrl, setFinalUrl] = useState("");
  const [platform, setPlatform] = useState<Platform>("adplatform_a");
  const { template, suffix } = value;
  const given = { template: template.trim(), suffix, platform, final_url: finalUrl.trim() };
  // What was found says nothing of a template that was changed since.
  const isOfGiven = (asked: typeof given | undefined): boolean =>
    JSON.stringify(asked) === JSON.stringify(given);
  const check = useWrite([], async ({ final_url: url, ...body }: typeof given) => {
    const final = url === "" ? {} : { final_url: url };
    return (await read(api.POST("/ad-platform/lint", { body: { ...body, ...final } }))).data;
  });
  const follow = useWrite(
    [],
    async (body: typeof given) => (await read(api.POST("/ad-platform/test", { body }))).data,
  );
  return (
    <section className="panel stack">
      <h2>Check a tracking template</h2>
      <p className="muted">
        For ads whose platform calls the tracker beside the landing page. The check reads the
        template; the test follows it once, which counts a click.
      </p>
      <AreaField
        label="Tracking template"
        value={template}
        onChange={(text) => onChange({ ...value, template: text })}
      />
      <div className="field-grid">
        <TextField
          label="Final URL"
          placeholder="https://"
          hint="The landing page of the ad. The test needs it."
          value={finalUrl}
          onChange={setFinalUrl}
        />
        <TextField
          label="Final URL suffix"
          value={suffix}
          onChange={(text) => onChange({ ...value, suffix: text })}
        />
        <ChoiceField
          label="Ad platform"
          value={platform}
          choices={PLATFORMS}
          onChange={(chosen) => setPlatform(chosen === "adplatform_b" ? chosen : "adplatform_a")}
        />
      </div>
      <div className="row wrap">
        <button
          type="button"
          className="button first"
          disabled={given.template === "" || check.isPending}
          onClick={() => check.mutate(given)}
        >
          {check.isPending ? "Checking" : "Check"}
        </button>
        <button
          type="button"
          className="button"
          disabled={given.template === "" || given.final_url === "" || follow.isPending}
          onClick={() => follow.mutate(given)}
        >
          {follow.isPending ? "Following the template" : "Test with one click"}
        </button>
      </div>
      {isOfGiven(check.variables) && (
        <>
          {check.isError && <ProblemNotice error={check.error} />}
          {check.data !== undefined && <Issues verdict={check.data} />}
        </>
      )}
      {isOfGiven(follow.variables) && (
        <>
          {follow.isError && <ProblemNotice error={follow.error} />}
          {follow.data !== undefined && <Hops test={follow.data} />}
        </>
      )}
    </section>
  );
}

function Issues({
  verdict: { ok, template, suffix },
}: {
  readonly verdict: Verdict;
}): ReactElement {
  const issues = [...(template?.issues ?? []), ...suffix];
  return (
    <div role="status" className="stack tight">
      <strong>
        {!ok
          ? "The template does not work like this"
          : issues.length === 0
            ? "No faults found"
            : "The template works"}
      </strong>
      <ul className="plain-list">
        {issues.map((issue, at) => (
          // Template and suffix may have the same fault.
          <OneIssue key={`${at} ${issue.code}`} {...issue} />
        ))}
      </ul>
    </div>
  );
}

function OneIssue({ severity, message, hint }: Issue): ReactElement {
  const Icon = ICONS[severity];
  return (
    <li className="row">
      <Icon size={14} aria-hidden />
      <span className="grow break">
        {SEVERITIES[severity]}: <StrangerText text={faultWords(message)} />
        {hint !== undefined && <span className="muted"> {faultWords(hint)}</span>}
      </span>
    </li>
  );
}

function Hops({ test }: { readonly test: Followed }): ReactElement {
  return (
    <div role="status" className="stack tight">
      <p className={test.ok ? "notice" : "notice bad"}>
        {test.ok
          ? `It leads to the landing page after ${formatCount(test.duration_ms)} ms`
          : "It does not lead to the landing page"}
      </p>
      <ul className="plain-list">
        {test.problems.map((problem) => (
          <li key={problem}>{PROBLEMS[problem]}</li>
        ))}
      </ul>
      <ol className="plain-list">
        {test.hops.map(({ url, status, duration_ms: ms }, at) => (
          <li key={`${at} ${url}`} className="break">
            {status ?? "No answer"} after {formatCount(ms)} ms:{" "}
            <span className="mono">
              <StrangerText text={url} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
