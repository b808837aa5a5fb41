import type { ReactElement } from "react";

type Remarked = { readonly hint?: string | undefined; readonly fault?: string | undefined };

/** The ids of the hint and of the fault of a field, for its `aria-describedby`. */
export function describedBy(id: string, { hint, fault }: Remarked): string | undefined {
  const ids = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(fault === undefined ? [] : [`${id}-fault`]),
  ];
  return ids.length === 0 ? undefined : ids.join(" ");
}

/** The hint and the fault below a field. */
export function Remarks({ id, hint, fault }: Remarked & { readonly id: string }): ReactElement {
  return (
    <>
      {hint !== undefined && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault !== undefined && (
        <span className="fault" id={`${id}-fault`} role="alert">
          {fault}
        </span>
      )}
    </>
  );
}
