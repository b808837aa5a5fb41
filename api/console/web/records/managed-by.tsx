import type { ReactElement } from "react";
import { userChoices } from "../client/user-choices.ts";
import { RecordName } from "./record-name.tsx";

/** Who of the staff looks after a partner or an advertiser. */
export function ManagedBy({ manager }: { readonly manager: number | null }): ReactElement | null {
  if (manager === null) return null;
  return (
    <span>
      Manager <RecordName of={userChoices} id={manager} />
    </span>
  );
}
