import type { ReactElement } from "react";

export function Console(): ReactElement {
  return <div>console</div>;
}
