import { type ComponentType, type ReactElement, useEffect, useState } from "react";
import { isBeingReplaced } from "./client/watch-updates.ts";

/**
 * A component whose code is loaded when it is first shown; `waiting` stands there meanwhile. A failure is thrown to the boundary around it.
 * `lazy` would do the same, but React keeps the fallback of a Suspense for 300 ms, and most code is there after 20.
 */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  waiting: ReactElement | null = null,
): ComponentType<Props> {
  let loaded: { readonly component: ComponentType<Props> } | undefined;
  return function Later(props: Props): ReactElement | null {
    const [known, setKnown] = useState(loaded);
    const [failure, setFailure] = useState<{ readonly error: unknown }>();
    useEffect(() => {
      if (known !== undefined) return;
      load().then(
        (component) => {
          loaded = { component };
          setKnown(loaded);
        },
        (error: unknown) => {
          if (!isBeingReplaced()) setFailure({ error });
        },
      );
    }, [known]);
    if (failure !== undefined) throw failure.error;
    if (known === undefined) return waiting;
    return <known.component {...props} />;
  };
}
