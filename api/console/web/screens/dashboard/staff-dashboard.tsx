import type { ReactElement } from "react";
import { later } from "../../later.tsx";
import { Dashboard } from "./dashboard.tsx";

// The figures come first: what waits is a chunk of its own.
const WaitingList = later(
  async () => (await import("./waiting-list.tsx")).WaitingList,
  <section className="panel beside-panel" aria-hidden="true" />,
);
const Movers = later(async () => (await import("./movers.tsx")).Movers);

/** The dashboard of the staff: also what waits for a decision, and what changed most. */
export function StaffDashboard(): ReactElement {
  return <Dashboard beside={<WaitingList />} below={(shown) => <Movers {...shown} />} />;
}
