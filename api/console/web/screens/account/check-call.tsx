import { Check, CircleSlash, X } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { useMembership } from "../../member/membership.ts";
import { useWrite } from "../../member/use-write.ts";
import { AreaField } from "../../parts/area-field.tsx";
import { GuideLink } from "../../parts/guide-link.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { parametersIn } from "./call-parameters.ts";

type Tested = components["schemas"]["TestedPostback"];

const INPUT = "click_id=\ntxid=test-1";

/** Judges a call as a real one would be, and records nothing. The token is added by the service. */
export function CheckCall(): ReactElement {
  const { api } = useMembership();
  const [text, setText] = useState(INPUT);
  const check = useWrite(["inbound-log", "own-events"], async (given: string) => {
    const body = { params: parametersIn(given) };
    return (await read(api.POST("/me/test-postback", { body }))).data;
  });
  return (
    <section className="panel stack">
      <header className="row wrap">
        <h2 className="grow">Check a call</h2>
        <GuideLink href="/docs/test-mode">About tests</GuideLink>
      </header>
      <p className="muted">
        Paste an address that your server has called, or type one parameter a line. Nothing is
        recorded. From your own server, add <code>test=1</code> to the address for the same.
      </p>
      <AreaField label="Call" value={text} onChange={setText} />
      {check.isError && <ProblemNotice error={check.error} />}
      <div className="row">
        <button
          type="button"
          className="button first"
          disabled={check.isPending}
          onClick={() => check.mutate(text)}
        >
          {check.isPending ? "Checking" : "Check the call"}
        </button>
      </div>
      {check.data !== undefined && <Outcome tested={check.data} />}
    </section>
  );
}

const ICONS = { passed: Check, failed: X, not_reached: CircleSlash } as const;
const WORDS = { passed: "Passed", failed: "Failed", not_reached: "Not checked" } as const;

function Outcome({ tested: { answer, steps } }: { readonly tested: Tested }): ReactElement {
  return (
    <div className="stack tight" role="status">
      <strong>{answer.ok ? "It would be accepted" : "It would be refused"}</strong>
      <ol className="plain-list">
        {steps.map(({ name, outcome, message }) => {
          const Icon = ICONS[outcome];
          return (
            <li key={name} className="row wrap">
              <Icon size={14} aria-hidden />
              <span>
                {name.slice(0, 1).toUpperCase() + name.slice(1)}: {WORDS[outcome]}
              </span>
              {message !== "" && (
                <span className="muted break">
                  <StrangerText text={message} />
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
