import { type ReactElement, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useAddress } from "../address/use-address.ts";
import { Problem } from "../client/problem.ts";
import { ProblemNotice } from "../parts/problem-notice.tsx";
import { useUnsaved } from "../parts/unsaved.ts";
import { FieldControls } from "./field-control.tsx";
import { changedBody, type Draft, draftOf, missingFaults } from "./form-draft.ts";
import type { FormField, RecordBody } from "./form-field.ts";
import { type FormStep, faultsIn } from "./form-steps.ts";
import { ShownFields } from "./shown-fields.tsx";

type Faults = Readonly<Record<string, string>>;

export type StepFormProps = {
  readonly steps: readonly FormStep[];
  /** What stands in the fields at the beginning. It is sent, too. */
  readonly initial: object;
  /** The word on the last button. */
  readonly submit: string;
  /** Makes the record. Returns the address of its page. */
  readonly onCreate: (body: RecordBody) => Promise<string>;
};

const REVIEW = "review";

/**
 * A form in steps, for a record that does not exist yet. The step is in the address, so the browser's Back goes a step back, and nothing that
 * was typed is lost. What the API refuses opens the step of the first fault.
 */
export function StepForm(props: StepFormProps): ReactElement {
  const { steps } = props;
  const { draft, setDraft, error, faults, isSending, at, open, next, create } = useSteps(props);
  const step = steps[at];
  const name = step?.name ?? REVIEW;
  return (
    <div className="steps-form">
      <StepList {...{ steps, draft, faults }} current={name} onOpen={open} />
      <StepPanel
        key={name}
        title={step?.title ?? "Review"}
        about={step?.about ?? "Check what will be created. Each step can be opened again."}
        faults={faults}
        onSubmit={step === undefined ? create : next}
        buttons={
          <>
            <button type="submit" className="button first" disabled={isSending}>
              {step === undefined ? props.submit : "Continue"}
            </button>
            {at !== 0 && (
              <button
                type="button"
                className="button"
                onClick={() => open(steps.at(step === undefined ? -1 : at - 1))}
              >
                Back
              </button>
            )}
          </>
        }
        error={
          error !== undefined && (
            <ProblemNotice
              error={error}
              isShown={(field) => step !== undefined && faultsIn(step, draft, { [field]: "" }) > 0}
            />
          )
        }
      >
        {step === undefined ? (
          <Review {...{ steps, draft }} onOpen={open} />
        ) : (
          <FieldControls fields={step.fields} {...{ draft, faults }} path="" onChange={setDraft} />
        )}
      </StepPanel>
    </div>
  );
}

type Steps = {
  readonly draft: Draft;
  readonly setDraft: (draft: Draft) => void;
  readonly error: unknown;
  readonly faults: Faults;
  readonly isSending: boolean;
  /** The step that is shown; -1 for the review. */
  readonly at: number;
  readonly open: (step: FormStep | undefined) => void;
  readonly next: () => void;
  readonly create: () => Promise<void>;
};

/** What was typed, which step is shown, and what is wrong. */
function useSteps({ steps, initial, onCreate }: StepFormProps): Steps {
  const fields = steps.flatMap((step) => step.fields);
  const [, go] = useLocation();
  const [search, change] = useAddress();
  const [before] = useState(() => draftOf(fields, initial));
  const [draft, setDraft] = useState(before);
  const [error, setError] = useState<unknown>();
  const [missing, setMissing] = useState<Faults>({});
  const [isSending, setSending] = useState(false);
  const faults = useMemo<Faults>(
    () => ({ ...(error instanceof Problem ? error.fields : {}), ...missing }),
    [error, missing],
  );
  const name = search.get("step") ?? steps[0]?.name;
  const at = steps.findIndex((step) => step.name === name);
  useUnsaved(Object.keys(changedBody(fields, draft, before)).length > 0, isSending);
  const open = (to: FormStep | undefined): void => change({ step: to?.name ?? REVIEW });
  const openWrong = (wrong: Faults): boolean => {
    const step = steps.find((one) => faultsIn(one, draft, wrong) > 0);
    if (step !== undefined) open(step);
    return step !== undefined;
  };
  const next = (): void => {
    const found = missingFaults(steps[at]?.fields ?? [], draft);
    setMissing(found);
    if (Object.keys(found).length === 0) open(steps[at + 1]);
  };
  const create = async (): Promise<void> => {
    const found = missingFaults(fields, draft);
    setMissing(found);
    setError(undefined);
    if (openWrong(found)) return;
    setSending(true);
    try {
      // It replaces the review: Back leads to an empty form, not to one that can be sent twice.
      go(await onCreate(bodyOf(fields, draft, before)), { replace: true });
    } catch (failure) {
      setError(failure);
      setSending(false);
      if (failure instanceof Problem) openWrong(failure.fields);
    }
  };
  return { draft, setDraft, error, faults, isSending, at, open, next, create };
}

/** What stands in the fields, and what was emptied that had a value at the beginning. */
function bodyOf(fields: readonly FormField[], draft: Draft, before: Draft): RecordBody {
  const empty = draftOf(fields, {});
  return { ...changedBody(fields, draft, empty), ...changedBody(fields, draft, before) };
}

/** The fields of one step. The focus is at its first fault, else at its title. */
function StepPanel({
  title,
  about,
  faults,
  buttons,
  error,
  onSubmit,
  children,
}: {
  readonly title: string;
  readonly about: string;
  readonly faults: Faults;
  readonly error: ReactNode;
  readonly buttons: ReactNode;
  readonly onSubmit: () => unknown;
  readonly children: ReactNode;
}): ReactElement {
  const form = useRef<HTMLFormElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? null;
    if (wrong !== null && Object.keys(faults).length > 0) wrong.focus();
    else if (isFirst.current) heading.current?.focus();
    isFirst.current = false;
  }, [faults]);
  return (
    <form
      className="panel stack"
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit();
      }}
    >
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p className="muted">{about}</p>
      {children}
      {error}
      <div className="row">{buttons}</div>
    </form>
  );
}

function StepList({
  steps,
  current,
  draft,
  faults,
  onOpen,
}: {
  readonly steps: readonly FormStep[];
  readonly current: string;
  readonly draft: Draft;
  readonly faults: Faults;
  readonly onOpen: (step: FormStep | undefined) => void;
}): ReactElement {
  const all = [...steps, undefined];
  return (
    <ol className="steps-nav" aria-label="Steps">
      {all.map((step, at) => {
        const wrong = step === undefined ? 0 : faultsIn(step, draft, faults);
        return (
          <li key={step?.name ?? REVIEW}>
            <button
              type="button"
              aria-current={(step?.name ?? REVIEW) === current ? "step" : undefined}
              onClick={() => onOpen(step)}
            >
              {at + 1}. {step?.title ?? "Review"}
              {wrong > 0 && <span className="badge bad">{wrong} to check</span>}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

/** Everything that was filled in, by step. */
function Review({
  steps,
  draft,
  onOpen,
}: {
  readonly steps: readonly FormStep[];
  readonly draft: Draft;
  readonly onOpen: (step: FormStep) => void;
}): ReactElement {
  return (
    <>
      {steps.map((step) => (
        <section key={step.name} className="stack tight">
          <div className="row">
            <h3 className="grow">{step.title}</h3>
            <button
              type="button"
              className="button"
              aria-label={`Change ${step.title.toLowerCase()}`}
              onClick={() => onOpen(step)}
            >
              Change
            </button>
          </div>
          <ShownFields fields={step.fields} record={bodyOf(step.fields, draft, draft)} />
        </section>
      ))}
    </>
  );
}
