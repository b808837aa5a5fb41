import { type ReactElement, useSyncExternalStore } from "react";
import { useInterruption } from "../client/use-api.ts";
import { later } from "../later.tsx";
import type { Session } from "../member/use-session.ts";

const StepDialog = later(async () => (await import("./step-dialog.tsx")).StepDialog);

/** Asks the person for what a refused request needs. What was typed stays, and the request is sent again afterwards. */
export function Interrupted({
  person,
}: {
  readonly person: Session["person"];
}): ReactElement | null {
  const interruption = useInterruption();
  const step = useSyncExternalStore(interruption.subscribe, interruption.read);
  if (step === undefined) return null;
  return <StepDialog step={step} person={person} />;
}
