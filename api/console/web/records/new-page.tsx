import type { ReactElement } from "react";
import { Link } from "wouter";
import { useMembership } from "../member/membership.ts";
import { useScreenName } from "../parts/screen-name.ts";
import { UnsavedPage } from "../parts/unsaved-page.tsx";
import { listAddress } from "./list-place.tsx";
import { StepForm, type StepFormProps } from "./step-form.tsx";

/** The page on which a record is made. */
export function NewPage({
  list: { path, title },
  noun,
  mayWrite,
  ...form
}: Omit<StepFormProps, "submit"> & {
  readonly list: { readonly path: string; readonly title: string };
  readonly noun: string;
  readonly mayWrite: boolean;
}): ReactElement {
  const { base } = useMembership();
  useScreenName(`New ${noun}`);
  const back = <Link href={listAddress(base + path)}>{title}</Link>;
  if (!mayWrite)
    return (
      <section className="panel stack">
        <h1>Page not found, or you don't have access</h1>
        <p>Only those who may change {title.toLowerCase()} create one.</p>
        <div className="row">{back}</div>
      </section>
    );
  return (
    <UnsavedPage>
      <div className="stack tight">
        <nav className="crumbs" aria-label="Back">
          {back}
        </nav>
        <h1>New {noun}</h1>
      </div>
      <StepForm {...form} submit={`Create the ${noun}`} />
    </UnsavedPage>
  );
}
