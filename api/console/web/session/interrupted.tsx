import { lazy, type ReactElement, Suspense, useSyncExternalStore } from "react";
import { useInterruption } from "../client/use-api.ts";
import type { Session } from "./use-session.ts";

const StepDialog = lazy(async () => ({ default: (await import("./step-dialog.tsx")).StepDialog }));

/** Asks the person for what a refused request needs. What was typed stays, and the request is sent again afterwards. */
export function Interrupted({
  person,
}: {
  readonly person: Session["person"];
}): ReactElement | null {
  const interruption = useInterruption();
  const step = useSyncExternalStore(interruption.subscribe, interruption.read);
  if (step === undefined) return null;
  return (
    <Suspense fallback={null}>
      <StepDialog step={step} person={person} />
    </Suspense>
  );
}
